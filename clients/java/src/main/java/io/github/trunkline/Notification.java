package io.github.trunkline;

/**
 * A notification of NOTIFY.
 *
 * @param channel its channel
 * @param payload its payload, maybe empty
 * @param processId the server process that notified
 */
public record Notification(String channel, String payload, int processId) {}
