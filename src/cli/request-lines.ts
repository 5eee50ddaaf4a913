/** Formats one row of the request log for people: result, providers asked and why, changes, price. */
import type { Json } from "./remote-api.ts";

const indent = "  ";

/** Returns a line with a name and a value; none if the value is empty. */
const named = (name: string, value: Json): string[] =>
  value === null || value === undefined || value === "" ? [] : [name.padEnd(12) + String(value)];

/** Returns lines under a heading; none if there are no lines. */
const under = (heading: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", heading, ...lines.map((line) => indent + line)];

/** Joins the words that are present. */
const words = (...parts: readonly (string | number | null | undefined | false)[]): string =>
  parts.filter((part) => part !== null && part !== undefined && part !== false).join(" ");

/** Returns the lines of `record`, the answer of `GET /admin/v1/requests/{id}`. */
export function requestLines(record: Json): string[] {
  const { error, explanation } = record;
  return [
    words(
      record.id,
      record.status ?? "is under way",
      record.http_status && `(${record.http_status})`,
    ),
    "",
    ...named("time", record.created_at),
    ...named("workspace", calledText(record.workspace_name, record.workspace_id)),
    ...named("key", calledText(record.key_name, record.key_id)),
    ...named("model", record.model),
    ...named("provider", record.provider),
    ...named("protocol", record.protocol),
    ...named("end user", record.end_user),
    ...named("tags", tagsText(record.tags)),
    ...named("took", record.duration_ms === null ? null : `${record.duration_ms} ms`),
    ...named("reserved", record.reserved === null ? null : `$${record.reserved}`),
    ...named("used", usageText(record.usage, record.usage_source)),
    ...named("cost", `$${record.cost}`),
    ...under("Error", error === null ? [] : errorLines(error)),
    ...under("Providers, in their order", planLines(explanation?.plan)),
    ...under("Attempts", (record.attempts as Json[]).map(attemptLine)),
    ...under("Hooks", ((explanation?.hooks ?? []) as Json[]).map(hookLine)),
    ...under("Changed", (record.changes as Json[]).map(changeLine)),
    ...under("Price", priceLinesOf(record.price_lines, record.price_lines_from)),
  ];
}

/** A name with its id, or the id alone: earlier versions of the gateway send no name. */
const calledText = (name: Json, id: Json): Json => (name == null ? id : `${name} (${id})`);

/** Each tag in the format of `requests list --tag`; empty if there are none. */
const tagsText = (tags: Json): string =>
  Object.entries(tags ?? {})
    .map(([name, value]) => `${name}:${String(value)}`)
    .join(", ");

const errorLines = ({ code, message, meaning }: Json): string[] =>
  [code, message, meaning].filter((line) => line !== null && line !== undefined);

/** Lists the providers that may be asked, in order, then each excluded one with its reason. */
function planLines(plan: Json): string[] {
  if (plan === undefined || plan === null) return [];
  const order: readonly string[] = plan.order ?? [];
  const left = ((plan.offers ?? []) as Json[]).filter(({ excluded }) => excluded !== undefined);
  return [
    ...order.map((name, at) => words(`${at + 1}.`, name, at === 0 && `(by ${plan.strategy})`)),
    ...left.map(({ provider, protocol, excluded }) =>
      words(
        "-",
        protocol === undefined ? provider : `${provider}/${protocol}`,
        `left out: ${excluded}`,
      ),
    ),
  ];
}

function attemptLine(attempt: Json): string {
  const { provider, credential, outcome, status, duration_ms: ms, message } = attempt;
  const line = words(
    provider,
    credential && `(${credential})`,
    outcome,
    status,
    ms !== undefined && `after ${ms} ms`,
  );
  return message ? `${line}: ${message}` : line;
}

const hookLine = ({ hook, outcome, code }: Json): string => words(hook, outcome, code);

const changeLine = ({ param, action, note }: Json): string =>
  words(param, action) + (note === null ? "" : `: ${note}`);

/** Returns the billed quantities that are not 0; null if there are none. */
function usageText(usage: Json, source: Json): string | null {
  const counts = Object.entries((usage ?? {}) as object).filter(([, count]) => count !== 0);
  if (counts.length === 0) return null;
  const text = counts.map(([name, count]) => `${name} ${String(count)}`).join(", ");
  return source === "estimated" ? `${text} (estimated: the provider did not tell)` : text;
}

/** `lines` is null if the call is older than stored prices, and its price has changed since or is gone. */
function priceLinesOf(lines: Json[] | null, from: Json): string[] {
  if (lines === null)
    return [
      "This call is from before prices were kept with calls, and its price has changed since, or is gone.",
    ];
  const shown = lines.map(priceLine);
  return from === "catalog"
    ? [...shown, "(by today's price, which comes to the same: none was kept with this call)"]
    : shown;
}

const priceLine = ({ name, quantity, unit_price: price, per, amount }: Json): string =>
  `${name}: ${quantity} at $${price} per ${String(per).replaceAll("_", " ")} = $${amount}`;
