package io.github.trunkline.session;

/** Calls of a program's listeners. What they throw must neither leave an answer half read nor hide a query's result. */
public final class Listeners {
    private Listeners() {}

    /**
     * Calls a listener. What it throws, of whatever class, goes to the thread's handler of uncaught exceptions, and no
     * further: a Clojure function throws checked exceptions too, and a test's listener an AssertionError.
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
