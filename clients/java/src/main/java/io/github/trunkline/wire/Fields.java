package io.github.trunkline.wire;

import java.util.List;
import java.util.Optional;

/**
 * The fields of an ErrorResponse or NoticeResponse, in their order.
 *
 * @param all each field's letter and text
 */
public record Fields(List<Field> all) {
    /**
     * One field.
     *
     * @param letter its letter in the manual's section "Error and Notice Message Fields"
     * @param text its text
     */
    public record Field(char letter, String text) {}

    /** The first field of that letter. */
    public Optional<String> text(char letter) {
        for (Field field : all) {
            if (field.letter == letter) {
                return Optional.of(field.text);
            }
        }
        return Optional.empty();
    }
}
