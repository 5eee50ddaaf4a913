/** Finds variables with nearly our names, because a misspelt one would be ignored silently. docs/operate.md "Environment". */
import { nearest } from "../base/suggest.ts";
import { isSecretVariable } from "../base/secret-variables.ts";
import { isServiceLink } from "./environment.ts";

const known = [
  "TOLLGATE_ADMIN_TOKEN",
  "TOLLGATE_ALLOW_PRIVATE_ADDRESSES",
  "TOLLGATE_CONFIG",
  "TOLLGATE_DATA_DIR",
  "TOLLGATE_DRAIN_SECONDS",
  "TOLLGATE_INITIAL_CREDIT",
  "TOLLGATE_LOG_LEVEL",
  "TOLLGATE_MASTER_KEY",
  "TOLLGATE_MASTER_KEY_PREVIOUS",
  "TOLLGATE_METRICS_HOST",
  "TOLLGATE_METRICS_PORT",
  "TOLLGATE_METRICS_TOKEN",
  "TOLLGATE_PUBLIC_URL",
  "TOLLGATE_READ_LAG_SECONDS",
  "TOLLGATE_SANDBOX",
  "TOLLGATE_TRUSTED_PROXIES",
  "TOLLGATE_WORKERS",
];
const all = [...known, ...known.filter(isSecretVariable).map((name) => `${name}_FILE`)];

/** Our variables without the common prefix. */
const shorter = [
  "PORT",
  "HOST",
  "DATABASE_URL",
  "DATABASE_URL_FILE",
  "DATABASE_READ_URL",
  "DATABASE_READ_URL_FILE",
];

/** Variables that Kubernetes sets for a Service named tollgate, and variables of our own processes and tests. */
const others =
  /^TOLLGATE_(?:(?:\w+_)?SERVICE_|(?:\w+_)?PORT_|TEST_|WORKER_START$|MUTANTS_|SCREENSHOTS$)/;

const bare = (name: string): string => name.slice("TOLLGATE_".length);

/** Returns a warning for each such variable, with the name that it resembles. Other names may be the operator's own. */
export const misspeltVariables = (variables: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(variables).flatMap(([name, value]) => {
    if (!name.startsWith("TOLLGATE_") || all.includes(name) || others.test(name)) return [];
    if (isServiceLink(String(value))) return [];
    const near = nearest(bare(name), all.map(bare));
    const meant =
      shorter.find((one) => one === bare(name)) ??
      // Variables that are not secrets cannot come from a file.
      known.find((one) => name === `${one}_FILE`) ??
      (near && `TOLLGATE_${near}`);
    return meant === undefined ? [] : [`${name} is not read; did you mean "${meant}"?`];
  });
