package io.github.trunkline.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * libpq's password file: lines of {@code host:port:database:user:password}. {@code *} stands for any value, and a backslash
 * escapes a colon or a backslash. The first line that fits counts.
 */
public final class PassFile {
    private PassFile() {}

    /** Its default place. */
    static Path usual() {
        String appData = System.getenv("APPDATA");
        return System.getProperty("os.name").startsWith("Windows") && appData != null
                ? Path.of(appData, "postgresql", "pgpass.conf") : Path.of(System.getProperty("user.home"), ".pgpass");
    }

    /**
     * The password for a server; null if the file has none or does not exist.
     *
     * @param host the host's name; {@code localhost} stands for a unix socket in its usual folder too
     * @throws IOException if it cannot be read, or if other users can read it: then it is not used
     */
    public static String find(Path file, Host host, String database, String user) throws IOException {
        List<String> lines;
        try {
            if (isOpenToOthers(file)) {
                throw new IOException("the password file " + file + " is not used, since others can read it: chmod 600 helps");
            }
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            return null;
        }
        for (String line : lines) {
            List<String> fields = fields(line);
            if (fields.size() == 5 && !line.startsWith("#") && fits(fields.get(0), name(host))
                    && fits(fields.get(1), "" + host.port()) && fits(fields.get(2), database) && fits(fields.get(3), user)) {
                return unescaped(fields.get(4));
            }
        }
        return null;
    }

    private static boolean isOpenToOthers(Path file) throws IOException {
        if (!file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return false;
        }
        Set<PosixFilePermission> given = Files.getPosixFilePermissions(file);
        return given.stream().anyMatch(permission -> !permission.name().startsWith("OWNER_"));
    }

    private static String name(Host host) {
        boolean usualFolder = host.name().equals("/tmp") || host.name().equals("/var/run/postgresql");
        return host.isUnixSocket() && usualFolder ? "localhost" : host.name();
    }

    /** The fields between colons without a backslash before them. The password, the last field, may contain colons. */
    private static List<String> fields(String line) {
        var fields = new ArrayList<String>();
        int begin = 0;
        for (int i = 0; i < line.length() && fields.size() < 4; i++) {
            if (line.charAt(i) == '\\') {
                i++;
            } else if (line.charAt(i) == ':') {
                fields.add(line.substring(begin, i));
                begin = i + 1;
            }
        }
        fields.add(line.substring(begin));
        return fields;
    }

    private static boolean fits(String field, String value) {
        return field.equals("*") || unescaped(field).equals(value);
    }

    private static String unescaped(String field) {
        var text = new StringBuilder();
        for (int i = 0; i < field.length(); i++) {
            if (field.charAt(i) == '\\' && i + 1 < field.length()) {
                i++;
            }
            text.append(field.charAt(i));
        }
        return text.toString();
    }
}
