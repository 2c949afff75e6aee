package io.github.trunkline.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Ways to do one thing, measured in turns: each round runs a block of every way. CPU is the whole process's, so that the
 * collector's, an event loop's and other threads' are in it; all figures are medians over the rounds, for one run.
 */
final class Measure {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static volatile Object sink;

    /** One way. */
    interface Way {
        Object run() throws Exception;
    }

    /**
     * A way's figures.
     *
     * @param cpu milliseconds of the process
     * @param threadCpu milliseconds of the calling thread
     * @param wall milliseconds
     * @param allocated megabytes, by the calling thread
     * @param retained megabytes that the result keeps alive
     */
    record Figures(double cpu, double threadCpu, double wall, double allocated, double retained) {}

    private Measure() {}

    /**
     * @param runs in a block: so many that the collector's work for a way is done in its own blocks
     * @param warmRounds that are not counted
     */
    static Map<String, Figures> inTurns(Map<String, Way> ways, int runs, int warmRounds, int rounds) throws Exception {
        var all = new LinkedHashMap<String, double[][]>();
        ways.keySet().forEach(way -> all.put(way, new double[4][rounds]));
        var order = new ArrayList<>(ways.entrySet());
        for (int round = -warmRounds; round < rounds; round++) {
            // Forth and back: what a way finds in caches and heap is what its neighbour has left.
            Collections.reverse(order);
            for (var way : order) {
                double[] figures = block(way.getValue(), runs);
                for (int i = 0; i < figures.length && round >= 0; i++) {
                    all.get(way.getKey())[i][round] = figures[i];
                }
            }
        }
        var result = new LinkedHashMap<String, Figures>();
        for (var way : ways.entrySet()) {
            double[][] figures = all.get(way.getKey());
            result.put(way.getKey(), new Figures(median(figures[0]), median(figures[1]), median(figures[2]),
                    median(figures[3]), retained(way.getValue())));
        }
        return result;
    }

    /** One run more goes before and is not counted: what the way before has left to the collector is done in it. */
    private static double[] block(Way way, int runs) throws Exception {
        sink = way.run();
        long process = processCpu();
        long thread = THREADS.getCurrentThreadCpuTime();
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long begin = System.nanoTime();
        for (int i = 0; i < runs; i++) {
            sink = way.run();
        }
        long end = System.nanoTime();
        sink = null;
        return new double[] {(processCpu() - process) / 1e6 / runs,
            (THREADS.getCurrentThreadCpuTime() - thread) / 1e6 / runs, (end - begin) / 1e6 / runs,
            (THREADS.getCurrentThreadAllocatedBytes() - bytes) / 1e6 / runs};
    }

    /** Nanoseconds of all threads. What Java and the kernel say of a process is counted in hundredths of a second. */
    private static long processCpu() throws IOException {
        long sum = 0;
        for (String thread : new java.io.File("/proc/self/task").list()) {
            try {
                String times = Files.readString(Path.of("/proc/self/task", thread, "schedstat"));
                sum += Long.parseLong(times.substring(0, times.indexOf(' ')));
            } catch (NoSuchFileException e) {
                // It has ended meanwhile.
            }
        }
        return sum;
    }

    /** The least of several tries: what else lives in the heap comes and goes. */
    private static double retained(Way way) throws Exception {
        double least = Double.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            sink = null;
            long before = used();
            sink = way.run();
            least = Math.min(least, (used() - before) / 1e6);
        }
        sink = null;
        return Math.max(least, 0);
    }

    private static long used() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** What the machine and the JVM are, for the head of a report. */
    static String machine() throws IOException {
        String cpu = Files.lines(Path.of("/proc/cpuinfo"))
                .filter(line -> line.startsWith("model name")).findFirst().orElse("?: ?").split(": ")[1];
        return cpu + ", " + Runtime.getRuntime().availableProcessors() + " cores; JDK " + Runtime.version();
    }
}
