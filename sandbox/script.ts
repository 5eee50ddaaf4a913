/**
 * The sandbox script: a line `#sandbox {json}` in the last user text decides what the vendor does.
 * docs/sandbox.md. What it may hold is in script-fields.ts.
 */
import type { Turn } from "./conversation.ts";
import { openQuestionStart } from "./conversation.ts";
import type { Json } from "./json.ts";
import { isObject } from "./json.ts";
import { Refusal } from "./refusal.ts";
import {
  artifactFields,
  scriptFields,
  type Field,
  type Kind,
  type Script,
} from "./script-fields.ts";

const marker = "#sandbox ";

function fits(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" && value >= 0;
    case "flag":
      return typeof value === "boolean";
    case "object":
      return isObject(value);
    case "list":
      return Array.isArray(value);
    case "text or object":
      return typeof value === "string" || isObject(value);
    case "object or null":
      return value === null || isObject(value);
  }
}

/** A script that cannot be read is refused loudly: a test that misspells a field must not pass. */
function checkFields(script: Json, fields: Readonly<Record<string, Field>>, place = ""): void {
  for (const [name, value] of Object.entries(script)) {
    const field = Object.hasOwn(fields, name) ? fields[name]! : undefined;
    const where = place + name;
    if (!field) throw new Refusal(400, { message: `#sandbox: no such field: ${where}` });
    if (!fits(field.kind, value)) {
      throw new Refusal(400, { message: `#sandbox: ${where} must be: ${field.kind}` });
    }
    if (field.words && !field.words.includes(String(value))) {
      const words = field.words.join(", ");
      throw new Refusal(400, { message: `#sandbox: ${where} must be one of: ${words}` });
    }
  }
}

const pollFields = Object.fromEntries(
  Object.entries(scriptFields).filter(
    ([name, { group }]) => group === "trouble" || name === "times",
  ),
);

function checkScript(script: Json): asserts script is Json & Script {
  checkFields(script, scriptFields);
  const { next, poll, artifact: download } = script;
  if (isObject(next)) checkScript(next);
  if (isObject(poll)) checkFields(poll, pollFields, "poll.");
  if (isObject(download)) checkFields(download, artifactFields, "artifact.");
}

function parseLine(line: string): Script {
  let script: unknown;
  try {
    script = JSON.parse(line.slice(marker.length));
  } catch {
    throw new Refusal(400, { message: "#sandbox: the rest of the line must be one JSON object" });
  }
  if (!isObject(script)) throw new Refusal(400, { message: "#sandbox: not a JSON object" });
  checkScript(script);
  return script;
}

/** The last script line in a text, trimmed; undefined when there is none. */
function findLine(text: string): string | undefined {
  if (!text.includes(marker)) return undefined;
  return text
    .split("\n")
    .map((line) => line.trim())
    .findLast((line) => line.startsWith(marker));
}

/** The script without its troubles, or with nothing left when it held only content. */
function spent(script: Script, whenOnlyContent: Script): Script {
  const entries = Object.entries(script);
  const calm = entries.filter(([name]) => scriptFields[name as keyof Script].group !== "trouble");
  return calm.length === entries.length ? whenOnlyContent : (Object.fromEntries(calm) as Script);
}

/** Remembers how often each line was seen, so that `times` can run out. */
export interface ScriptReader {
  /**
   * The script that holds for this history at this place (endpoint and upstream model); empty without a line.
   * @throws Refusal when the line cannot be read.
   */
  read(turns: readonly Turn[], place: readonly string[]): Script;
}

const linesRemembered = 10_000;

export function createScriptReader(): ScriptReader {
  const seen = new Map<string, number>();

  function countCall(line: string): number {
    const count = (seen.get(line) ?? 0) + 1;
    seen.set(line, count);
    if (seen.size > linesRemembered) seen.delete(seen.keys().next().value!);
    return count;
  }

  return {
    read(turns, place) {
      const start = openQuestionStart(turns);
      const index = turns.findLastIndex(
        (turn, at) => at >= start && turn.role === "user" && findLine(turn.text) !== undefined,
      );
      if (index === -1) return {};
      const line = findLine(turns[index]!.text)!;
      let script = parseLine(line);
      if (script.only && !script.only.some((name) => place.includes(name))) {
        return spent(script, script);
      }
      if (script.times !== undefined && countCall(line) > script.times) script = spent(script, {});
      return atStep(script, turns.slice(index + 1));
    },
  };
}

/**
 * Follows `next` once for each round of tool calls that came after the line. Calls without a `next` were made
 * and answered; what is left of their script is the reply, if it has one.
 */
function atStep(script: Script, later: readonly Turn[]): Script {
  const rounds = later.filter((turn) => turn.role === "assistant" && turn.calls > 0).length;
  let step: Script = script;
  for (let round = 0; round < rounds && step.tool_calls; round += 1) {
    const { tool_calls: _answered, reasoning: _thought, finish: _ended, ...rest } = step;
    step = step.next ?? rest;
  }
  return step;
}
