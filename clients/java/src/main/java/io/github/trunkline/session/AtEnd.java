package io.github.trunkline.session;

/** Is told that a stream or a COPY is over, so that its connection is free again. Called once. */
@FunctionalInterface
public interface AtEnd {
    /**
     * It is over.
     *
     * @param rows how many rows came or went
     * @param error what went wrong, or null
     */
    void over(long rows, RuntimeException error);
}
