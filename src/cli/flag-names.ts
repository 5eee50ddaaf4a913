/** Names of the management API's fields in errors, rewritten as the options that the operator typed. */
import type { Command } from "commander";

/** Fields whose option has another name; the others have the field's own with dashes. */
const options: Readonly<Record<string, string>> = {
  "spend_caps.total": "--total-cap",
  "spend_caps.daily": "--daily-cap",
  "spend_caps.weekly": "--weekly-cap",
  "spend_caps.monthly": "--monthly-cap",
  "spend_caps.hard": "--hard",
  model_allowlist: "--models",
  expires_at: "--expires",
  organization_id: "--organization",
  "response_cache.ttl_seconds": "--cache-seconds",
  "response_cache.charge_percent": "--cache-charge",
};

/** Returns the text with the field that it begins with as an option of the command; unchanged if the command has no such option. */
export function withOption(text: string, command: Pick<Command, "options"> | undefined): string {
  const [quoted, field = ""] = /^`([\w.]+)`/.exec(text) ?? [];
  if (quoted === undefined || command === undefined) return text;
  const option = options[field] ?? `--${field.replaceAll("_", "-")}`;
  const isOption = command.options.some(({ long }) => long === option);
  return isOption ? option + text.slice(quoted.length) : text;
}
