/** Names one schedule. */
export const SCHEDULE_KEY = "namespace = ? and workflow = ? and name = ? and cron = ? and timezone = ?";
