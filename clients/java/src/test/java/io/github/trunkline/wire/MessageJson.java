package io.github.trunkline.wire;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** A decoded message in the words of {@code vectors/README.md}. */
final class MessageJson {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** Where the manual's name is written in other capitals than Java's. */
    private static final Map<String, String> NAMES = Map.of("AuthenticationMd5Password", "AuthenticationMD5Password",
            "AuthenticationSasl", "AuthenticationSASL", "AuthenticationSaslContinue", "AuthenticationSASLContinue",
            "AuthenticationSaslFinal", "AuthenticationSASLFinal");
    private static final Map<Integer, String> AUTHENTICATIONS = Map.of(2, "AuthenticationKerberosV5",
            7, "AuthenticationGSS", 8, "AuthenticationGSSContinue", 9, "AuthenticationSSPI");
    private static final Map<Character, String> COPIES = Map.of('G', "CopyInResponse", 'H', "CopyOutResponse",
            'W', "CopyBothResponse");

    private final ObjectNode node = JSON.createObjectNode();

    private MessageJson() {}

    static ObjectNode of(Backend message) {
        var json = new MessageJson();
        String name = message.getClass().getSimpleName();
        json.node.put("type", NAMES.getOrDefault(name, name));
        json.fill(message);
        try {
            // Through text, so that numbers are of the same class as those that were read from the file.
            return (ObjectNode) JSON.readTree(JSON.writeValueAsString(json.node));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void fill(Backend message) {
        if (message instanceof Backend.AuthenticationMd5Password m) {
            node.put("salt_hex", hex(m.salt()));
        } else if (message instanceof Backend.AuthenticationSasl m) {
            node.set("mechanisms", texts(m.mechanisms()));
        } else if (message instanceof Backend.AuthenticationSaslContinue m) {
            node.put("data_hex", hex(m.data()));
        } else if (message instanceof Backend.AuthenticationSaslFinal m) {
            node.put("data_hex", hex(m.data()));
        } else if (message instanceof Backend.Authentication m) {
            authentication(m);
        } else if (message instanceof Backend.BackendKeyData m) {
            node.put("process_id", m.processId()).put("secret_key_hex", hex(m.secretKey()));
        } else if (message instanceof Backend.CommandComplete m) {
            node.put("command_tag", m.tag());
        } else if (message instanceof Backend.CopyData m) {
            node.put("data_hex", hex(m.data()));
        } else if (message instanceof Backend.CopyResponse m) {
            node.put("type", COPIES.get(m.direction())).put("format", m.format());
            m.columnFormats().forEach(node.putArray("column_formats")::add);
        } else if (message instanceof Backend.DataRow m) {
            m.values().forEach(value -> ((ArrayNode) node.withArray("/values_hex")).add(hex(value)));
            node.withArray("/values_hex");
        } else {
            more(message);
        }
    }

    private void more(Backend message) {
        if (message instanceof Backend.ErrorResponse m) {
            fields(m.fields());
        } else if (message instanceof Backend.NoticeResponse m) {
            fields(m.fields());
        } else if (message instanceof Backend.FunctionCallResponse m) {
            node.put("value_hex", hex(m.value()));
        } else if (message instanceof Backend.NegotiateProtocolVersion m) {
            node.putArray("newest").add(m.major()).add(m.minor());
            node.set("unrecognized_options", texts(m.unrecognizedOptions()));
        } else if (message instanceof Backend.NotificationResponse m) {
            node.put("process_id", m.processId()).put("channel", m.channel()).put("payload", m.payload());
        } else if (message instanceof Backend.ParameterDescription m) {
            ArrayNode types = node.putArray("types");
            for (int type : m.types()) {
                types.add(Integer.toUnsignedLong(type));
            }
        } else if (message instanceof Backend.ParameterStatus m) {
            node.put("name", m.name()).put("value", m.value());
        } else if (message instanceof Backend.ReadyForQuery m) {
            node.put("status", "" + m.status());
        } else if (message instanceof Backend.RowDescription m) {
            ArrayNode columns = node.putArray("columns");
            m.columns().forEach(column -> columns.addObject().put("name", column.name())
                    .put("table", Integer.toUnsignedLong(column.table())).put("attribute", column.attribute())
                    .put("type_oid", Integer.toUnsignedLong(column.typeOid())).put("type_size", column.typeSize())
                    .put("type_modifier", column.typeModifier()).put("format", column.format()));
        }
    }

    private void authentication(Backend.Authentication message) {
        String name = AUTHENTICATIONS.get(message.code());
        if (name == null) {
            node.put("code", message.code()).put("data_hex", hex(message.data()));
            return;
        }
        node.put("type", name);
        if (message.code() == 8) {
            node.put("data_hex", hex(message.data()));
        }
    }

    private void fields(Fields fields) {
        ArrayNode list = node.putArray("fields");
        fields.all().forEach(field -> list.addArray().add("" + field.letter()).add(field.text()));
    }

    private static ArrayNode texts(List<String> texts) {
        ArrayNode list = JSON.createArrayNode();
        texts.forEach(list::add);
        return list;
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }
}
