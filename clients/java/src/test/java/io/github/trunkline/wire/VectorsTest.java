package io.github.trunkline.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.trunkline.ProtocolException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The bytes that all of Trunkline agrees on: {@code vectors/*.json}, described in {@code vectors/README.md}. */
class VectorsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BYTES_MAX = 1 << 30;

    private static Stream<JsonNode> vectors(String file) throws IOException {
        JsonNode list = JSON.readTree(new File(System.getenv("VECTORS"), file));
        assertTrue(list.size() > 0, file);
        return StreamSupport.stream(list.spliterator(), false);
    }

    private static byte[] hex(JsonNode node) {
        return node.isNull() ? null : HexFormat.of().parseHex(node.asText());
    }

    private static String name(JsonNode vector) {
        return vector.get("name").asText();
    }

    @TestFactory
    Stream<DynamicTest> decodesWhatServersSend() throws IOException {
        return vectors("backend.json").map(vector -> DynamicTest.dynamicTest(name(vector), () -> {
            byte[] bytes = hex(vector.get("hex"));
            assertEquals(bytes.length, Frame.size(bytes, 0, bytes.length, BYTES_MAX));
            Backend message = Backend.decode(bytes[0], bytes, Frame.HEADER_BYTES, bytes.length);
            assertEquals(vector.get("message"), MessageJson.of(message));
            if (bytes[0] == 'D') {
                DataRow.check(bytes, 5, bytes.length, vector.get("message").get("values_hex").size());
            }
            for (int cut = 0; cut < bytes.length; cut++) {
                int size = Frame.size(Arrays.copyOf(bytes, cut), 0, cut, BYTES_MAX);
                assertTrue(size == -1 || size > cut, "takes " + cut + " bytes for the message");
            }
        }));
    }

    @TestFactory
    Stream<DynamicTest> refusesWhatIsMalformed() throws IOException {
        return vectors("malformed.json").filter(vector -> vector.get("direction").asText().equals("backend"))
                .map(vector -> DynamicTest.dynamicTest(name(vector), () -> {
                    byte[] bytes = hex(vector.get("hex"));
                    if (vector.get("refused_by").asText().equals("frame")) {
                        assertThrows(ProtocolException.class, () -> Frame.size(bytes, 0, bytes.length, BYTES_MAX));
                        return;
                    }
                    assertEquals(bytes.length, Frame.size(bytes, 0, bytes.length, BYTES_MAX));
                    assertThrows(ProtocolException.class, () -> Backend.decode(bytes[0], bytes, 5, bytes.length));
                    if (bytes[0] == 'D') {
                        int announced = bytes.length >= 7 ? Bytes.uint16(bytes, 5) : 1;
                        assertThrows(ProtocolException.class,
                                () -> DataRow.check(bytes, 5, bytes.length, announced));
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> splitsStreamsHoweverTheyArrive() throws IOException {
        return vectors("streams.json").filter(vector -> vector.get("direction").asText().equals("backend"))
                .map(vector -> DynamicTest.dynamicTest(name(vector), () -> {
                    byte[] bytes = hex(vector.get("hex"));
                    var expected = new ArrayList<String>();
                    vector.get("frames").forEach(frame -> expected.add(frame.get("at") + "+" + frame.get("bytes")));
                    for (JsonNode split : vector.get("splits")) {
                        var ends = new ArrayList<Integer>();
                        split.forEach(at -> ends.add(at.asInt()));
                        ends.add(bytes.length);
                        assertEquals(expected, frames(bytes, ends));
                    }
                }));
    }

    private static List<String> frames(byte[] bytes, List<Integer> arrivals) {
        var found = new ArrayList<String>();
        int at = 0;
        for (int arrived : arrivals) {
            int size = Frame.size(bytes, at, arrived - at, BYTES_MAX);
            while (size != -1 && at + size <= arrived) {
                found.add(at + "+" + size);
                at += size;
                size = Frame.size(bytes, at, arrived - at, BYTES_MAX);
            }
        }
        return found;
    }

    @TestFactory
    Stream<DynamicTest> decodesWhatAServerSent() throws IOException {
        return vectors("captured.json").map(vector -> DynamicTest.dynamicTest(name(vector), () -> {
            byte[] bytes = hex(vector.get("received_hex"));
            var types = new StringBuilder();
            for (int at = 0; at < bytes.length;) {
                int size = Frame.size(bytes, at, bytes.length - at, BYTES_MAX);
                Backend.decode(bytes[at], bytes, at + 5, at + size);
                types.append((char) bytes[at]);
                at += size;
            }
            assertEquals(vector.get("received_types").asText(), types.toString());
        }));
    }

    @TestFactory
    Stream<DynamicTest> encodesWhatClientsSend() throws IOException {
        return Stream.concat(vectors("frontend.json"), vectors("first.json"))
                // A text that is no UTF-8 is nothing that a String could hold.
                .filter(vector -> !vector.get("message").has("text_hex") && !vector.get("message").has("query_hex"))
                .map(vector -> DynamicTest.dynamicTest(name(vector), () -> {
                    var out = new Out();
                    encode(new Frontend(out), vector.get("message"));
                    assertArrayEquals(hex(vector.get("hex")), Arrays.copyOf(out.array(), out.size()));
                }));
    }

    private static short[] formats(JsonNode node) {
        var formats = new short[node.size()];
        for (int i = 0; i < formats.length; i++) {
            formats[i] = (short) node.get(i).asInt();
        }
        return formats;
    }

    private static byte[][] values(JsonNode node) {
        var values = new byte[node.size()][];
        for (int i = 0; i < values.length; i++) {
            values[i] = hex(node.get(i));
        }
        return values;
    }

    private static void encode(Frontend frontend, JsonNode m) {
        switch (m.get("type").asText()) {
            case "Bind" -> frontend.bind(m.get("portal").asText(), m.get("statement").asText(),
                    formats(m.get("parameter_formats")), values(m.get("values_hex")), formats(m.get("result_formats")));
            case "Close" -> frontend.close(m.get("target").asText().charAt(0), m.get("name").asText());
            case "Describe" -> frontend.describe(m.get("target").asText().charAt(0), m.get("name").asText());
            case "CopyData" -> {
                byte[] data = hex(m.get("data_hex"));
                frontend.copyData(data, 0, data.length);
            }
            case "CopyDone" -> frontend.copyDone();
            case "CopyFail" -> frontend.copyFail(m.get("message").asText());
            case "Execute" -> frontend.execute(m.get("portal").asText(), m.get("max_rows").asInt());
            case "Flush" -> frontend.flush();
            case "FunctionCall" -> frontend.functionCall((int) m.get("function").asLong(),
                    formats(m.get("argument_formats")), values(m.get("arguments_hex")), m.get("result_format").asInt());
            case "Parse" -> {
                var types = new int[m.get("parameter_types").size()];
                Arrays.setAll(types, i -> (int) m.get("parameter_types").get(i).asLong());
                frontend.parse(m.get("name").asText(), m.get("query").asText(), types);
            }
            case "PasswordMessage" -> frontend.password(m.has("password")
                    ? m.get("password").asText().getBytes(StandardCharsets.UTF_8) : hex(m.get("password_hex")));
            case "Query" -> frontend.query(m.get("text").asText());
            case "SASLInitialResponse" -> frontend.saslInitial(m.get("mechanism").asText(), hex(m.get("data_hex")));
            case "SASLResponse", "GSSResponse" -> frontend.saslResponse(hex(m.get("data_hex")));
            case "Sync" -> frontend.sync();
            case "Terminate" -> frontend.terminate();
            case "SSLRequest" -> frontend.sslRequest();
            case "GSSENCRequest" -> frontend.gssEncRequest();
            case "CancelRequest" -> frontend.cancelRequest(m.get("process_id").asInt(), hex(m.get("secret_key_hex")));
            case "StartupMessage" -> {
                var parameters = new ArrayList<Map.Entry<String, String>>();
                m.get("parameters").forEach(pair -> parameters.add(Map.entry(pair.get(0).asText(), pair.get(1).asText())));
                frontend.startup(m.get("version").get(0).asInt(), m.get("version").get(1).asInt(), parameters);
            }
            default -> throw new AssertionError("the vectors have a message that nothing encodes: " + m);
        }
    }
}
