package io.github.trunkline.row;

/** What CommandComplete says: {@code INSERT 0 3}, {@code SELECT 12}, {@code CREATE TABLE}. */
public final class CommandTag {
    private CommandTag() {}

    /** The number at its end, or 0 if there is none. */
    public static long affected(String tag) {
        int at = tag.length();
        while (at > 0 && tag.charAt(at - 1) >= '0' && tag.charAt(at - 1) <= '9') {
            at--;
        }
        boolean isNumber = at < tag.length() && tag.length() - at <= 18 && at > 0 && tag.charAt(at - 1) == ' ';
        return isNumber ? Long.parseLong(tag, at, tag.length(), 10) : 0;
    }
}
