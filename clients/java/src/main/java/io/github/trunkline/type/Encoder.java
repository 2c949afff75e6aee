package io.github.trunkline.type;

import io.github.trunkline.wire.Out;

/** Writes one parameter in its type's binary format. Many threads use an encoder at once, so it must be immutable. */
@FunctionalInterface
public interface Encoder {
    /**
     * Writes a value that is neither null nor a String: Strings are sent in text format for the server to read.
     *
     * @throws RuntimeException if the value is of a class that the type cannot hold
     */
    void encode(Object value, Out out);
}
