/** Recognizes environment variables that hold secrets, by their names. */

const secretName = /(?:^|_)(?:API_?KEY|KEY|KEY_ID|TOKEN|SECRET|PASSWORD|CREDENTIALS|PAT|PROXY)$/i;
const otherSecrets: ReadonlySet<string> = new Set([
  "AWS_BEARER_TOKEN_BEDROCK",
  "DATABASE_READ_URL",
  "DATABASE_URL",
  "TOLLGATE_MASTER_KEY_PREVIOUS",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
]);

/** True if a variable holds a secret: a file named by `NAME_FILE` may hold it instead, and no message shows its value. */
export const isSecretVariable = (name: string): boolean =>
  otherSecrets.has(name) || secretName.test(name);
