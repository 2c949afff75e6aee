package io.github.trunkline;

import io.github.trunkline.wire.Fields;
import java.util.Optional;

/** PostgreSQL refused a statement: an ErrorResponse, with its fields. The connection stays usable, unless {@link #isFatal}. */
public final class ServerException extends PostgresException {
    private static final long serialVersionUID = 1;

    private final transient Fields fields;
    private final String sqlState;

    /** @param fields the message's fields, of protocol section "Error and Notice Message Fields" */
    public ServerException(Fields fields) {
        super(describe(fields));
        this.fields = fields;
        this.sqlState = fields.text('C').orElse("XX000");
    }

    private static String describe(Fields fields) {
        var text = new StringBuilder();
        text.append(fields.text('V').or(() -> fields.text('S')).orElse("ERROR"));
        text.append(' ').append(fields.text('C').orElse("XX000"));
        text.append(": ").append(fields.text('M').orElse("the server gave no reason"));
        fields.text('P').ifPresent(position -> text.append(" (at character ").append(position).append(')'));
        fields.text('D').ifPresent(detail -> text.append("\n  detail: ").append(detail));
        fields.text('H').ifPresent(hint -> text.append("\n  hint: ").append(hint));
        fields.text('W').ifPresent(where -> text.append("\n  where: ").append(where));
        return text.toString();
    }

    /** Five characters, such as {@code 23505} for unique_violation. */
    @Override
    public String sqlState() {
        return sqlState;
    }

    /** ERROR, FATAL or PANIC. */
    public String severity() {
        return fields.text('V').or(() -> fields.text('S')).orElse("ERROR");
    }

    /** True if the server ends the session with this. */
    public boolean isFatal() {
        return !severity().equals("ERROR");
    }

    /** The message alone, without position, detail and hint. */
    public String primaryMessage() {
        return fields.text('M').orElse("");
    }

    /** More about the error. */
    public Optional<String> detail() {
        return fields.text('D');
    }

    /** What to do about it. */
    public Optional<String> hint() {
        return fields.text('H');
    }

    /** Where in the statement it is: counted in characters from 1. */
    public Optional<Integer> position() {
        return fields.text('P').map(Integer::valueOf);
    }

    /** The constraint that was violated. */
    public Optional<String> constraint() {
        return fields.text('n');
    }

    /** The table concerned. */
    public Optional<String> table() {
        return fields.text('t');
    }

    /** The column concerned. */
    public Optional<String> column() {
        return fields.text('c');
    }

    /** All fields, also those that have no method here. */
    public Fields fields() {
        return fields;
    }
}
