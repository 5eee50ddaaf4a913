/** A request while hooks change it: what it is now, and which of its fields were changed by whom. */
import { isDeepStrictEqual } from "node:util";
import { readJson, type WireObject } from "../base/json.ts";
import { JsonSource } from "../base/json-source.ts";
import type { Note } from "../base/notes.ts";
import { HookFailedError, type HookAnswer } from "./answer.ts";
import type { AskedCall, ChangedCall } from "./types.ts";

type Change = Extract<HookAnswer, { action: "change" }>;

export class Draft {
  readonly asked: AskedCall;
  #model: string | undefined;
  #body: WireObject;
  #source: JsonSource | undefined;
  readonly #notes = new Map<string, Note>();
  #isChanged = false;

  constructor(asked: AskedCall) {
    this.asked = asked;
    this.#model = asked.model;
    this.#body = asked.body;
    this.#source = asked.source;
  }

  get model(): string | undefined {
    return this.#model;
  }

  /**
   * The body as JSON. What can be read in two ways (a member named twice) is written anew: hooks see what the gateway reads.
   */
  text(): string {
    const written = this.#source?.write(this.#body) ?? JSON.stringify(this.#body);
    return typeof written === "string" ? written : Buffer.concat(written).toString();
  }

  /** Applies a change. Nothing of one that cannot be is applied. @throws HookFailedError; GatewayError `overloaded` */
  change(hook: string, { body = this.#body, model: named }: Change): void {
    const { modelInBody, lease } = this.asked;
    const next = named !== undefined && modelInBody ? { ...body, model: named } : body;
    const model = modelInBody ? next["model"] : (named ?? this.#model);
    if (model === undefined ? this.asked.model !== undefined : typeof model !== "string")
      throw new HookFailedError("its body has no model");
    // Its caller waits for an answer of the form that it asked for.
    if ((next["stream"] ?? false) !== (this.#body["stream"] ?? false))
      throw new HookFailedError("it changes stream");
    // Read as the caller's own body was: the same bounds, the same parser.
    const json = readAs(JSON.stringify(next));
    lease.take(json.bytes.length + json.shape.memoryBytes);
    const source = new JsonSource(json);
    for (const note of notesOf(hook, this.#body, source.value)) this.#notes.set(note.param, note);
    if (!modelInBody && model !== this.#model)
      this.#notes.set("model", { param: "model", kind: "rewritten", detail: by("changed", hook) });
    this.#model = model as string | undefined;
    this.#source = source;
    this.#body = source.value;
    this.#isChanged = true;
  }

  /** What became of the request; undefined where no hook changed it. */
  changed(): ChangedCall | undefined {
    if (!this.#isChanged) return undefined;
    return { model: this.#model, source: this.#source!, notes: [...this.#notes.values()] };
  }
}

function readAs(text: string) {
  try {
    return readJson(Buffer.from(text));
  } catch (error) {
    throw new HookFailedError("its body is beyond the bounds of a request", { cause: error });
  }
}

const by = (what: string, hook: string): string => `${what} by the hook "${hook}"`;

/** Which fields differ. A change that changes nothing leaves none. */
function* notesOf(hook: string, before: WireObject, after: WireObject): Generator<Note> {
  for (const param of Object.keys(before)) {
    if (!Object.hasOwn(after, param)) yield { param, kind: "dropped", detail: by("removed", hook) };
    else if (!isDeepStrictEqual(before[param], after[param]))
      yield { param, kind: "rewritten", detail: by("changed", hook) };
  }
  for (const param of Object.keys(after))
    if (!Object.hasOwn(before, param))
      yield { param, kind: "rewritten", detail: by("added", hook) };
}
