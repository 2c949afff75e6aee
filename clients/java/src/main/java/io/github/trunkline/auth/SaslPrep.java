package io.github.trunkline.auth;

import java.text.Normalizer;

/**
 * Prepares a password for SCRAM as PostgreSQL does (RFC 4013): some spaces become a space, some characters vanish, and the
 * rest is normalized by NFKC. A password with characters that the RFC forbids is taken as it is, as PostgreSQL does.
 */
final class SaslPrep {
    private SaslPrep() {}

    static String prepare(String password) {
        if (password.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
            return password;
        }
        var mapped = new StringBuilder();
        password.codePoints().filter(c -> !isMappedToNothing(c)).map(c -> isSpace(c) ? ' ' : c)
                .forEach(mapped::appendCodePoint);
        String normal = Normalizer.normalize(mapped, Normalizer.Form.NFKC);
        boolean forbidden = normal.isEmpty() || normal.codePoints().anyMatch(SaslPrep::isProhibited) || !bidi(normal);
        return forbidden ? password : normal;
    }

    /** RFC 3454, table C.1.2. */
    private static boolean isSpace(int c) {
        return c == 0xa0 || c == 0x1680 || c >= 0x2000 && c <= 0x200b || c == 0x202f || c == 0x205f || c == 0x3000;
    }

    /** RFC 3454, table B.1. */
    private static boolean isMappedToNothing(int c) {
        return c == 0xad || c == 0x34f || c == 0x1806 || c >= 0x180b && c <= 0x180d || c == 0x200c || c == 0x200d
                || c == 0x2060 || c >= 0xfe00 && c <= 0xfe0f || c == 0xfeff;
    }

    /** RFC 3454, tables A.1 (by what this JVM calls unassigned) and C.2.1 to C.9. */
    private static boolean isProhibited(int c) {
        int type = Character.getType(c);
        return type == Character.CONTROL || type == Character.PRIVATE_USE || type == Character.SURROGATE
                || type == Character.UNASSIGNED || type == Character.FORMAT || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR || (c & 0xfffe) == 0xfffe || c >= 0xfff9 && c <= 0xfffd
                || c >= 0x2ff0 && c <= 0x2ffb || c == 0x340 || c == 0x341;
    }

    /** RFC 3454, section 6: text from right to left has nothing else in it, and begins and ends with such. */
    private static boolean bidi(String text) {
        if (text.codePoints().noneMatch(SaslPrep::isRightToLeft)) {
            return true;
        }
        boolean mixed = text.codePoints().anyMatch(
                c -> Character.getDirectionality(c) == Character.DIRECTIONALITY_LEFT_TO_RIGHT);
        return !mixed && isRightToLeft(text.codePointAt(0)) && isRightToLeft(text.codePointBefore(text.length()));
    }

    private static boolean isRightToLeft(int c) {
        byte direction = Character.getDirectionality(c);
        return direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT
                || direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC;
    }
}
