package io.github.trunkline.type;

import java.util.List;

/** Values of PostgreSQL's geometric types. Each one's {@code toString} is what PostgreSQL reads. */
public sealed interface Geometry {
    /** A point. */
    record Point(double x, double y) implements Geometry {
        @Override
        public String toString() {
            return "(" + x + "," + y + ")";
        }
    }

    /** An infinite line: {@code a * x + b * y + c = 0}. */
    record Line(double a, double b, double c) implements Geometry {
        @Override
        public String toString() {
            return "{" + a + "," + b + "," + c + "}";
        }
    }

    /** A line segment. */
    record Segment(Point from, Point to) implements Geometry {
        @Override
        public String toString() {
            return "[" + from + "," + to + "]";
        }
    }

    /** A rectangle, by its upper right and lower left corners. */
    record Box(Point high, Point low) implements Geometry {
        @Override
        public String toString() {
            return high + "," + low;
        }
    }

    /** A path, closed or open. */
    record Path(List<Point> points, boolean closed) implements Geometry {
        @Override
        public String toString() {
            return (closed ? "(" : "[") + join(points) + (closed ? ")" : "]");
        }
    }

    /** A polygon. */
    record Polygon(List<Point> points) implements Geometry {
        @Override
        public String toString() {
            return "(" + join(points) + ")";
        }
    }

    /** A circle. */
    record Circle(Point center, double radius) implements Geometry {
        @Override
        public String toString() {
            return "<" + center + "," + radius + ">";
        }
    }

    private static String join(List<Point> points) {
        return points.stream().map(Point::toString).collect(java.util.stream.Collectors.joining(","));
    }
}
