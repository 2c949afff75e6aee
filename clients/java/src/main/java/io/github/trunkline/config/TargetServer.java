package io.github.trunkline.config;

import java.util.Locale;

/** Which kind of server to accept: libpq's {@code target_session_attrs}. */
public enum TargetServer {
    /** The first that answers. */
    ANY,
    /** One whose transactions may write. */
    READ_WRITE,
    /** One whose transactions may not. */
    READ_ONLY,
    /** One that is no hot standby. */
    PRIMARY,
    /** A hot standby. */
    STANDBY,
    /** A hot standby if there is one, else any. */
    PREFER_STANDBY;

    /** Reads libpq's word for it, such as {@code read-write}. */
    public static TargetServer of(String word) {
        try {
            return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("target_session_attrs is " + word
                    + "; it can be any, read-write, read-only, primary, standby or prefer-standby");
        }
    }
}
