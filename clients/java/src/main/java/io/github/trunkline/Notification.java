package io.github.trunkline;

/**
 * What a NOTIFY said.
 *
 * @param channel its channel
 * @param payload its payload, maybe empty
 * @param processId the server process that notified
 */
public record Notification(String channel, String payload, int processId) {}
