package io.github.trunkline.session;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** One thread that looks at every session's {@link Alarm}, 50 times a second while there are sessions. */
final class Watchdog {
    private static final long INTERVAL_NANOS = 20_000_000;
    private static final Set<Session> SESSIONS = ConcurrentHashMap.newKeySet();
    private static final Thread THREAD = start();

    private Watchdog() {}

    private static Thread start() {
        var thread = new Thread(Watchdog::run, "trunkline-watchdog");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void watch(Session session) {
        SESSIONS.add(session);
        LockSupport.unpark(THREAD);
    }

    static void forget(Session session) {
        SESSIONS.remove(session);
    }

    private static void run() {
        while (true) {
            if (SESSIONS.isEmpty()) {
                LockSupport.park();
                continue;
            }
            long now = System.nanoTime();
            for (Session session : SESSIONS) {
                session.alarm().look(now);
            }
            LockSupport.parkNanos(INTERVAL_NANOS);
        }
    }
}
