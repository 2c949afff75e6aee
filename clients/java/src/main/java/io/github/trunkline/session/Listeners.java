package io.github.trunkline.session;

/** Calls a program's listeners. Their exceptions must neither leave an answer half read nor hide a query's result. */
public final class Listeners {
    private Listeners() {}

    /**
     * Calls a listener. Whatever it throws goes to the thread's handler of uncaught exceptions only. That includes checked
     * exceptions, which a Clojure function may throw, and a test's AssertionError.
     */
    public static void call(Runnable listener) {
        try {
            listener.run();
        } catch (Throwable e) {
            Thread current = Thread.currentThread();
            current.getUncaughtExceptionHandler().uncaughtException(current, e);
        }
    }
}
