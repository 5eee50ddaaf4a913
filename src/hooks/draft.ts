/** A request while hooks change it: its current state, and which hook changed which of the caller's fields. */
import { isDeepStrictEqual } from "node:util";
import { exactTwinOf } from "../base/exact-numbers.ts";
import { readJson, type WireObject } from "../base/json.ts";
import { JsonSource } from "../base/json-source.ts";
import type { Note } from "../base/notes.ts";
import { HookFailedError, type HookAnswer } from "./answer.ts";
import { withDigits } from "./digits.ts";
import type { AskedCall, ChangedCall } from "./types.ts";

type Change = Extract<HookAnswer, { action: "change" }>;

/** The header that names fallback models counts as a field. */
const fallbacksHeader = "x-gw-fallback-models";

export class Draft {
  readonly asked: AskedCall;
  #model: string | undefined;
  #fallbackModels: string | undefined;
  #body: WireObject;
  #source: JsonSource | undefined;
  /** The hook that last changed each field. */
  readonly #touched = new Map<string, string>();
  #isChanged = false;

  constructor(asked: AskedCall) {
    this.asked = asked;
    this.#model = asked.model;
    this.#fallbackModels = asked.fallbackModels;
    this.#body = asked.body;
    this.#source = asked.source;
  }

  get model(): string | undefined {
    return this.#model;
  }

  get fallbackModels(): string | undefined {
    return this.#fallbackModels;
  }

  /** The body as JSON. An ambiguous body (a member named twice) is rewritten, so that hooks see what the gateway reads. */
  text(): string {
    const written = this.#source?.write(this.#body) ?? JSON.stringify(this.#body);
    return typeof written === "string" ? written : Buffer.concat(written).toString();
  }

  /**
   * Applies a change completely or not at all. If it names another model, the caller's fallbacks are removed, so that the call goes
   * to no model that the hook has not seen.
   * @throws HookFailedError; GatewayError `overloaded`
   */
  change(hook: string, change: Change): void {
    const whole = this.#bodyAfter(change);
    const model = this.asked.modelInBody ? whole["model"] : (change.model ?? this.#model);
    if (model === undefined ? this.asked.model !== undefined : typeof model !== "string")
      throw new HookFailedError("its body has no model");
    // The caller expects an answer in the form that it asked for.
    if ((whole["stream"] ?? false) !== (this.#body["stream"] ?? false))
      throw new HookFailedError("it changes stream");
    const next = this.#restoreOriginals(whole);
    // Parsed like the caller's own body: same bounds, same parser.
    const json = readAs(this.asked.source?.write(next) ?? JSON.stringify(next));
    this.asked.lease.take(json.bytes.length + json.shape.memoryBytes);
    const source = new JsonSource(json);
    for (const param of fieldsBetween(exactTwinOf(this.#body), exactTwinOf(source.value)))
      this.#touched.set(param, hook);
    if (model !== this.#model) this.#changeModel(hook, model as string | undefined);
    this.#source = source;
    this.#body = source.value;
    this.#isChanged = true;
  }

  /** The body after the change. If the change names only another model, the caller's fallback models are removed. */
  #bodyAfter({ body, model }: Change): WireObject {
    const whole = { ...exactTwinOf(body ?? this.#body) };
    if (model === undefined) return whole;
    const { modelInBody, fallbacksField } = this.asked;
    if (modelInBody) whole["model"] = model;
    if (body === undefined && fallbacksField !== undefined && model !== this.#model)
      delete whole[fallbacksField];
    return whole;
  }

  #changeModel(hook: string, model: string | undefined): void {
    this.#model = model;
    this.#touched.set("model", hook).set(fallbacksHeader, hook);
    this.#fallbackModels = undefined;
  }

  /** The changed request; undefined if no hook changed it. */
  changed(): ChangedCall | undefined {
    if (!this.#isChanged) return undefined;
    return {
      model: this.#model,
      fallbackModels: this.#fallbackModels,
      source: this.#source!,
      notes: [...this.#notes()],
    };
  }

  /** Returns a body where each unchanged field is the caller's original value. Numbers keep their original digits in all fields. */
  #restoreOriginals(body: WireObject): WireObject {
    const { body: sent } = this.asked;
    const own = (name: string, given: unknown): unknown => {
      const before = Object.hasOwn(this.#body, name) ? this.#body : sent;
      if (!Object.hasOwn(before, name)) return given;
      const value = withDigits(given, { value: before[name], exact: exactTwinOf(before)[name] });
      const isOwn = Object.hasOwn(sent, name) && isDeepStrictEqual(exactTwinOf(sent)[name], value);
      return isOwn ? sent[name] : value;
    };
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, own(name, value)]),
    );
  }

  /** Notes for fields that finally differ from the caller's. A field that one hook added and another removed gets none. */
  *#notes(): Generator<Note> {
    const { asked } = this;
    const before = fieldsOf(exactTwinOf(asked.body), asked.fallbackModels);
    const after = fieldsOf(exactTwinOf(this.#body), this.#fallbackModels);
    if (!asked.modelInBody && asked.model !== this.#model)
      [before["model"], after["model"]] = [asked.model, this.#model];
    for (const [param, hook] of this.#touched) {
      const [was, is] = [Object.hasOwn(before, param), Object.hasOwn(after, param)];
      if (was && !is) yield { param, kind: "dropped", detail: by("removed", hook) };
      else if (!was && is) yield { param, kind: "rewritten", detail: by("added", hook) };
      else if (was && !isDeepStrictEqual(before[param], after[param]))
        yield { param, kind: "rewritten", detail: by("changed", hook) };
    }
  }
}

const by = (what: string, hook: string): string => `${what} by the hook "${hook}"`;

/** The fields of a request, including the header that counts as one. */
const fieldsOf = (body: WireObject, fallbackModels: string | undefined): WireObject => ({
  ...body,
  ...(fallbackModels !== undefined && { [fallbacksHeader]: fallbackModels }),
});

function readAs(written: ReturnType<JsonSource["write"]>) {
  const bytes = typeof written === "string" ? Buffer.from(written) : Buffer.concat(written);
  try {
    return readJson(bytes);
  } catch (error) {
    throw new HookFailedError("its body is beyond the bounds of a request", { cause: error });
  }
}

/** The names of fields that differ between two bodies. */
function* fieldsBetween(before: WireObject, after: WireObject): Generator<string> {
  for (const param of Object.keys(before))
    if (!Object.hasOwn(after, param) || !isDeepStrictEqual(before[param], after[param]))
      yield param;
  for (const param of Object.keys(after)) if (!Object.hasOwn(before, param)) yield param;
}
