package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.type.Geometry.Box;
import io.github.trunkline.type.Geometry.Circle;
import io.github.trunkline.type.Geometry.Line;
import io.github.trunkline.type.Geometry.Path;
import io.github.trunkline.type.Geometry.Point;
import io.github.trunkline.type.Geometry.Polygon;
import io.github.trunkline.type.Geometry.Segment;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** point, line, lseg, box, path, polygon, circle: in both formats doubles in a row. */
final class GeometryTypes {
    static final Codec POINT = fixed("point", Point.class, 2, d -> new Point(d[0], d[1]));
    static final Codec LINE = fixed("line", Line.class, 3, d -> new Line(d[0], d[1], d[2]));
    static final Codec LSEG = fixed("lseg", Segment.class, 4,
            d -> new Segment(new Point(d[0], d[1]), new Point(d[2], d[3])));
    static final Codec BOX = fixed("box", Box.class, 4, d -> new Box(new Point(d[0], d[1]), new Point(d[2], d[3])));
    static final Codec CIRCLE = fixed("circle", Circle.class, 3, d -> new Circle(new Point(d[0], d[1]), d[2]));
    static final Codec PATH = Codec.of("path", (bytes, at, length) -> {
        Check.atLeast("path", 5, length);
        return new Path(points("path", bytes, at + 1, length - 1), bytes[at] != 0);
    }, text -> new Path(pairs("path", doubles("path", text)), !text.startsWith("[")), (value, out) -> {
        Path path = checked("path", Path.class, value);
        out.int8(path.closed() ? 1 : 0);
        encode(path.points(), out);
    });
    static final Codec POLYGON = Codec.of("polygon",
            (bytes, at, length) -> new Polygon(points("polygon", bytes, at, length)),
            text -> new Polygon(pairs("polygon", doubles("polygon", text))),
            (value, out) -> encode(checked("polygon", Polygon.class, value).points(), out));

    private GeometryTypes() {}

    private static Codec fixed(String name, Class<?> kind, int count, Function<double[], Object> make) {
        return Codec.of(name, (bytes, at, length) -> {
            Check.length(name, count * 8, length);
            return make.apply(doubles(bytes, at, count));
        }, text -> {
            double[] numbers = doubles(name, text);
            if (numbers.length != count) {
                throw Check.notText(name, text);
            }
            return make.apply(numbers);
        }, (value, out) -> {
            for (double number : doubles(name, checked(name, kind, value).toString())) {
                out.float64(number);
            }
        });
    }

    private static <T> T checked(String name, Class<T> kind, Object value) {
        if (!kind.isInstance(value)) {
            throw Check.cannotHold(name, value);
        }
        return kind.cast(value);
    }

    private static void encode(List<Point> points, Out out) {
        out.int32(points.size());
        points.forEach(point -> out.float64(point.x()).float64(point.y()));
    }

    private static double[] doubles(byte[] bytes, int at, int count) {
        var numbers = new double[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = Double.longBitsToDouble(Bytes.int64(bytes, at + 8 * i));
        }
        return numbers;
    }

    private static double[] doubles(String name, String text) {
        try {
            String[] words = text.replaceAll("[()\\[\\]{}<>]", "").split(",");
            var numbers = new double[words.length];
            for (int i = 0; i < words.length; i++) {
                numbers[i] = Double.parseDouble(words[i]);
            }
            return numbers;
        } catch (NumberFormatException e) {
            throw Check.notText(name, text);
        }
    }

    private static List<Point> points(String name, byte[] bytes, int at, int length) {
        Check.atLeast(name, 4, length);
        int count = Bytes.int32(bytes, at);
        if (count < 0 || count != (length - 4) / 16 || (length - 4) % 16 != 0) {
            throw new ValueException("a " + name + " says it has " + count + " points");
        }
        return pairs(name, doubles(bytes, at + 4, count * 2));
    }

    private static List<Point> pairs(String name, double[] numbers) {
        if (numbers.length % 2 != 0) {
            throw new ValueException("a " + name + " has half a point");
        }
        var points = new ArrayList<Point>();
        for (int i = 0; i < numbers.length; i += 2) {
            points.add(new Point(numbers[i], numbers[i + 1]));
        }
        return List.copyOf(points);
    }
}
