package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Out;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;

/** inet, cidr: {@link Inet}. macaddr, macaddr8: Strings with colons. */
final class NetworkTypes {
    /** PostgreSQL's own numbers for the address families, the same on every system. */
    private static final int FAMILY_4 = 2;
    private static final int FAMILY_6 = 3;

    static final Codec INET = inet("inet", 0);
    static final Codec CIDR = inet("cidr", 1);
    static final Codec MACADDR = mac("macaddr", 6);
    static final Codec MACADDR8 = mac("macaddr8", 8);

    private NetworkTypes() {}

    private static Codec inet(String name, int isCidr) {
        return Codec.of(name, (bytes, at, length) -> {
            Check.atLeast(name, 4, length);
            int size = bytes[at] == FAMILY_4 ? 4 : bytes[at] == FAMILY_6 ? 16 : -1;
            if (size < 0 || bytes[at + 3] != size) {
                throw new ValueException("a value of type " + name + " has family " + bytes[at]);
            }
            Check.length(name, 4 + size, length);
            return new Inet(address(Arrays.copyOfRange(bytes, at + 4, at + 4 + size)), bytes[at + 1] & 0xff);
        }, text -> parse(name, text), (value, out) -> encode(name, value, isCidr, out));
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new ValueException("no internet address has " + bytes.length + " bytes", e);
        }
    }

    /** Digits, colons and points only: nothing that could be looked up by name. */
    private static Object parse(String name, String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        if (!address.chars().allMatch(c -> c == ':' || c == '.' || Character.digit(c, 16) >= 0)
                || address.indexOf(':') < 0 && address.chars().filter(c -> c == '.').count() != 3) {
            throw Check.notText(name, text);
        }
        try {
            Inet host = Inet.of(InetAddress.getByName(address));
            return slash < 0 ? host : new Inet(host.address(), Integer.parseInt(text.substring(slash + 1)));
        } catch (UnknownHostException | NumberFormatException e) {
            throw Check.notText(name, text);
        }
    }

    private static void encode(String name, Object value, int isCidr, Out out) {
        Inet inet = value instanceof InetAddress address ? Inet.of(address) : value instanceof Inet given ? given : null;
        if (inet == null) {
            throw Check.cannotHold(name, value);
        }
        byte[] bytes = inet.address().getAddress();
        out.int8(bytes.length == 4 ? FAMILY_4 : FAMILY_6).int8(inet.prefix()).int8(isCidr).int8(bytes.length);
        out.bytes(bytes);
    }

    private static Codec mac(String name, int size) {
        HexFormat format = HexFormat.ofDelimiter(":");
        return Codec.of(name, (bytes, at, length) -> {
            Check.length(name, size, length);
            return format.formatHex(bytes, at, at + length);
        }, text -> text, (value, out) -> {
            if (!(value instanceof CharSequence text) || text.length() != size * 3 - 1) {
                throw Check.cannotHold(name, value);
            }
            out.bytes(format.parseHex(text));
        });
    }
}
