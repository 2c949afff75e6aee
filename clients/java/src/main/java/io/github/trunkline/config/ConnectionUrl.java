package io.github.trunkline.config;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * libpq's URLs: {@code postgres[ql]://[user[:password]@][host[:port],...][/database][?keyword=value&...]}, each part
 * percent-encoded where it must. A unix socket's folder is a host with its slashes as {@code %2F}, or {@code ?host=/folder}.
 */
final class ConnectionUrl {
    private ConnectionUrl() {}

    static Map<String, String> read(String url) {
        var keywords = new LinkedHashMap<String, String>();
        String rest = afterScheme(url);
        int query = rest.indexOf('?');
        String keywordsPart = query < 0 ? "" : rest.substring(query + 1);
        rest = query < 0 ? rest : rest.substring(0, query);
        int slash = rest.indexOf('/');
        if (slash >= 0 && slash + 1 < rest.length()) {
            keywords.put("dbname", decode(rest.substring(slash + 1)));
        }
        readAuthority(slash < 0 ? rest : rest.substring(0, slash), keywords);
        for (String pair : keywordsPart.isEmpty() ? new String[0] : keywordsPart.split("&")) {
            int equals = pair.indexOf('=');
            if (equals <= 0) {
                throw new IllegalArgumentException("the connection URL has a part without a value after its '?'");
            }
            String keyword = decode(pair.substring(0, equals));
            String value = decode(pair.substring(equals + 1));
            // libpq accepts it because JDBC's URLs have it.
            if (keyword.equals("ssl") && value.equals("true")) {
                keywords.put("sslmode", "require");
            } else {
                keywords.put(keyword, value);
            }
        }
        return keywords;
    }

    private static String afterScheme(String url) {
        for (String scheme : new String[] {"postgres://", "postgresql://"}) {
            if (url.startsWith(scheme)) {
                return url.substring(scheme.length());
            }
        }
        // The message must not contain the URL, which may hold a password.
        throw new IllegalArgumentException("a connection URL begins with postgres:// or postgresql://");
    }

    private static void readAuthority(String authority, Map<String, String> keywords) {
        int at = authority.lastIndexOf('@');
        if (at >= 0) {
            String login = authority.substring(0, at);
            int colon = login.indexOf(':');
            if (colon != 0 && !login.isEmpty()) {
                keywords.put("user", decode(colon < 0 ? login : login.substring(0, colon)));
            }
            if (colon >= 0) {
                keywords.put("password", decode(login.substring(colon + 1)));
            }
        }
        String list = authority.substring(at + 1);
        if (list.isEmpty()) {
            return;
        }
        var names = new ArrayList<String>();
        var ports = new ArrayList<String>();
        for (String host : list.split(",", -1)) {
            int bracket = host.startsWith("[") ? host.indexOf(']') : -1;
            int colon = host.indexOf(':', Math.max(bracket, 0));
            String name = colon < 0 ? host : host.substring(0, colon);
            names.add(bracket > 0 ? name.substring(1, bracket) : decode(name));
            ports.add(colon < 0 ? "" : host.substring(colon + 1));
        }
        keywords.put("host", String.join(",", names));
        if (ports.stream().anyMatch(port -> !port.isEmpty())) {
            keywords.put("port", String.join(",", ports));
        }
    }

    private static String decode(String part) {
        try {
            // URLDecoder reads a form's encoding, where '+' is a space; in these URLs it is a plus.
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the connection URL has a '%' that no two hexadecimal digits follow");
        }
    }
}
