/** Checks the configuration of traces. Mistakes in OpenTelemetry's variables would make a start fail. Nothing is sent. */
import type { Settings } from "../../catalog/index.ts";
import type { Environment } from "../environment.ts";
import { tracingOptions } from "../telemetry.ts";
import { UsageError } from "../usage-error.ts";
import { failed, ok, type Finding } from "./findings.ts";

/** Returns no findings if no collector is configured. */
export function checkTelemetry(
  { variables }: Pick<Environment, "variables">,
  settings: Pick<Settings, "telemetry">,
): Finding[] {
  const check = "telemetry";
  try {
    const options = tracingOptions(variables, settings);
    return options === undefined ? [] : [ok(check, `traces go to ${new URL(options.url).origin}`)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [failed(check, error.message, "correct it, or leave it out: no gateway starts with it")];
  }
}
