/** Variables of the environment that hold secrets, by what they are called. */

const secretName = /(?:^|_)(?:API_?KEY|KEY|KEY_ID|TOKEN|SECRET|PASSWORD|CREDENTIALS|PAT|PROXY)$/i;
const otherSecrets: ReadonlySet<string> = new Set([
  "AWS_BEARER_TOKEN_BEDROCK",
  "DATABASE_READ_URL",
  "DATABASE_URL",
  "TOLLGATE_MASTER_KEY_PREVIOUS",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
]);

/** Whether a variable holds a secret: it may stand in a file that `NAME_FILE` names, and its value is in no message. */
export const isSecretVariable = (name: string): boolean =>
  otherSecrets.has(name) || secretName.test(name);
