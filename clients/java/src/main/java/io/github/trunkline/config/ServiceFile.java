package io.github.trunkline.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * libpq's connection service file: sections {@code [name]} with a keyword and its value on each line. The user's file is read
 * first, then the system's.
 */
final class ServiceFile {
    private ServiceFile() {}

    /**
     * The keywords of a service.
     *
     * @param given the file; null stands for libpq's own places, as {@code environment} names them
     * @throws IllegalArgumentException if no file has the service, or a line of it cannot be understood
     */
    static Map<String, String> read(String service, Path given, Map<String, String> environment) {
        var places = new ArrayList<Path>();
        String named = environment.get("PGSERVICEFILE");
        if (given != null) {
            places.add(given);
        } else {
            places.add(named != null ? Path.of(named) : Path.of(System.getProperty("user.home"), ".pg_service.conf"));
            if (environment.get("PGSYSCONFDIR") != null) {
                places.add(Path.of(environment.get("PGSYSCONFDIR"), "pg_service.conf"));
            }
        }
        for (Path place : places) {
            Map<String, String> found = Files.exists(place) ? section(service, place) : null;
            if (found != null) {
                return found;
            }
        }
        throw new IllegalArgumentException("there is no service called " + service + " in " + places);
    }

    private static Map<String, String> section(String service, Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException("the service file " + file + " cannot be read", e);
        }
        Map<String, String> found = null;
        boolean inside = false;
        int number = 0;
        for (String raw : lines) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            if (line.startsWith("[")) {
                if (inside) {
                    return found;
                }
                inside = line.equals("[" + service + "]");
                found = inside ? new LinkedHashMap<>() : found;
            } else if (inside) {
                int equals = line.indexOf('=');
                String keyword = equals < 0 ? "" : line.substring(0, equals).strip();
                if (keyword.isEmpty() || keyword.equals("service") || keyword.equals("servicefile")
                        || keyword.equals("ldap")) {
                    throw new IllegalArgumentException("line " + number + " of " + file + " is not understood");
                }
                found.put(keyword, line.substring(equals + 1).strip());
            }
        }
        return found;
    }
}
