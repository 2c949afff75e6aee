package io.github.trunkline.type;

/**
 * How json and jsonb become objects of a JSON library and back. Used by many threads at once. Without one, values are
 * Strings.
 */
public interface JsonCodec {
    /**
     * Reads a document.
     *
     * @param bytes where it lies, as UTF-8; not to be changed or kept
     * @param at its first byte
     * @param length how many bytes it has
     */
    Object read(byte[] bytes, int at, int length) throws Exception;

    /** Writes a document as UTF-8. */
    byte[] write(Object value) throws Exception;
}
