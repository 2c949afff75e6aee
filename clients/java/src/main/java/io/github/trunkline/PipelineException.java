package io.github.trunkline;

/** A statement of a pipeline was refused; the pipeline's transaction was rolled back. */
public final class PipelineException extends PostgresException {
    private static final long serialVersionUID = 1;

    private final int index;

    /**
     * @param index which statement, counted from 0
     * @param cause what the server said
     */
    public PipelineException(int index, ServerException cause) {
        super("statement " + index + " of the pipeline: " + cause.getMessage(), cause);
        this.index = index;
    }

    /** Which statement, counted from 0. */
    public int index() {
        return index;
    }

    /** The server's SQLSTATE. */
    @Override
    public String sqlState() {
        return ((ServerException) getCause()).sqlState();
    }
}
