/**
 * Arguments of a call as pieces of one JSON object, for streams whose clients parse them at the call's end: Anthropic's SDK breaks off
 * at anything else, and the whole turn is lost. What is JSON so far goes on at once. Traps T2, T3.
 *
 * Where the text turns out to be no object (a bad escape, a second object, a cut), what was sent is closed, its members are taken back
 * with null, and all of the text stands under `arguments`, as in a whole answer: no tool runs with half of its input.
 */
import { jsonBounds } from "../../base/json-scan.ts";
import { argumentsObject, isNoArguments } from "../tool-arguments.ts";

/** What may come next. */
type Expecting =
  | "object"
  | "first_name"
  | "name"
  | "in_name"
  | "colon"
  | "value"
  | "first_item"
  | "item"
  | "in_text"
  | "comma"
  | "nothing";

/** What makes valid JSON of a text that was sent until then, within its innermost object or list. */
const completions: Readonly<Partial<Record<Expecting, string>>> = {
  in_name: '":null',
  colon: ":null",
  value: "null",
  in_text: '"',
};

const blanks = /^[ \t\n\r]+$/;
const token =
  /[ \t\n\r]+|[{}[\],:"]|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[^\d.eE+-])/y;
const begunToken = /^(?:-?[\d.eE+-]*|t|tr|tru|f|fa|fal|fals|n|nu|nul)$/;
const within = /"|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const begunEscape = /^\\(?:u[\da-fA-F]{0,3})?$/;
/** A longer number is read anew with each of its pieces. */
const begunMax = 4_096;

/** Where the characters end that stand for themselves in a JSON text. */
function plainEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < space || code === quote || code === backslash) break;
  }
  return at;
}

const space = 32;
const quote = 34;
const backslash = 92;

/** The arguments of one call. */
export class InputPieces {
  #expecting: Expecting = "object";
  #isBroken = false;
  /** All that came. */
  readonly #pieces: string[] = [];
  /** The start of a token whose end has not come. */
  #begun = "";
  /** Tokens that could not be taken back: a comma, and the last brace. They go with what follows. */
  #held = "";
  /** Objects and lists that are open. */
  readonly #open: string[] = [];
  /** Names of the outermost members as JSON, and of the one that is being read what came. */
  readonly #names = new Set<string>();
  #name = "";

  /** What goes on of a piece. */
  push(piece: string): string {
    this.#pieces.push(piece);
    const text = this.#begun + piece;
    let at = 0;
    let sent = "";
    while (at < text.length && !this.#isBroken) {
      const next = this.#tokenAt(text, at);
      if (next === undefined) break;
      at += next.length;
      const goesOn = this.#take(next);
      if (this.#isBroken) break;
      this.#held += next;
      if (!goesOn) continue;
      sent += this.#held;
      this.#held = "";
    }
    this.#begun = this.#isBroken ? "" : text.slice(at);
    return sent;
  }

  /** What goes on at the call's end: nothing where there are no arguments. */
  end(): string {
    if (this.#expecting === "nothing" && !this.#isBroken) return this.#held;
    const text = this.#pieces.join("");
    if (this.#expecting === "object")
      return isNoArguments(text) ? "" : JSON.stringify(argumentsObject(text));
    const inner = this.#open.slice(1).reverse();
    const closed = inner.map((bracket) => (bracket === "{" ? "}" : "]")).join("");
    const hasMembers = this.#names.size > 0 || this.#name !== "";
    const takenBack = [...this.#names].map((name) => `${name}:null,`).join("");
    const whole = `"arguments":${JSON.stringify(text)}}`;
    const begun = completions[this.#expecting] ?? "";
    return `${begun}${closed}${hasMembers ? "," : ""}${takenBack}${whole}`;
  }

  /** The token there; undefined where its end has not come, or where there is none. */
  #tokenAt(text: string, at: number): string | undefined {
    const isText = this.#expecting === "in_text" || this.#expecting === "in_name";
    const plain = isText ? plainEnd(text, at) : at;
    if (plain > at) return text.slice(at, plain);
    const pattern = isText ? within : token;
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return found;
    const rest = text.slice(at, at + begunMax);
    const isBegun = rest.length < begunMax && (isText ? begunEscape : begunToken).test(rest);
    this.#isBroken = !isBegun;
    return undefined;
  }

  /** Takes a token. Whether it may be sent now. */
  #take(next: string): boolean {
    const expecting = this.#expecting;
    if (expecting === "in_name" || expecting === "in_text") return this.#takeText(next);
    if (blanks.test(next)) return false;
    switch (expecting) {
      case "first_name":
        return next === "}" ? this.#close(next) : this.#takeName(next);
      case "name":
        return this.#takeName(next);
      case "first_item":
        return next === "]" ? this.#close(next) : this.#takeValue(next);
      case "value":
      case "item":
        return this.#takeValue(next);
      case "comma":
        if (next !== ",") return this.#close(next);
        this.#expect(this.#open.at(-1) === "{" ? "name" : "item");
        return false;
      default:
        return this.#takeMark(next);
    }
  }

  /** What begins the outermost object, and what stands between a name and its value. Behind its end there is nothing. */
  #takeMark(next: string): boolean {
    if (this.#expecting === "object" && next === "{") return this.#begin(next);
    if (this.#expecting === "colon" && next === ":") return this.#expect("value");
    return this.#break();
  }

  /** What stands in a name or a text, and its end. */
  #takeText(next: string): boolean {
    const isName = this.#expecting === "in_name";
    if (isName && this.#open.length === 1) this.#name += next;
    if (next !== '"') return true;
    if (isName && this.#open.length === 1) {
      this.#names.add(this.#name);
      this.#name = "";
    }
    return this.#expect(isName ? "colon" : "comma");
  }

  #takeName(next: string): boolean {
    if (next !== '"') return this.#break();
    if (this.#open.length === 1) this.#name = next;
    return this.#expect("in_name");
  }

  #takeValue(next: string): boolean {
    if (next === "{" || next === "[") return this.#begin(next);
    if (next === '"') return this.#expect("in_text");
    return /^[-\dtfn]/.test(next) ? this.#expect("comma") : this.#break();
  }

  #begin(bracket: string): boolean {
    if (this.#open.length === jsonBounds.depth) return this.#break();
    this.#open.push(bracket);
    return this.#expect(bracket === "{" ? "first_name" : "first_item");
  }

  /** The outermost object stays open: what follows it would make it none. */
  #close(bracket: string): boolean {
    if (bracket !== (this.#open.at(-1) === "{" ? "}" : "]")) return this.#break();
    if (this.#open.length === 1) {
      this.#expect("nothing");
      return false;
    }
    this.#open.pop();
    return this.#expect("comma");
  }

  #expect(next: Expecting): true {
    this.#expecting = next;
    return true;
  }

  #break(): false {
    this.#isBroken = true;
    return false;
  }
}
