/**
 * Values of a LiteLLM file as our file has them: `os.environ/NAME` becomes `${NAME}`, and a secret that the file itself
 * holds becomes a variable to be set. The secret is never written, shown or kept.
 */
import { isSecretKey } from "../../catalog/index.ts";

/** A variable that the written file refers to. */
export interface Variable {
  readonly name: string;
  /** The fields of LiteLLM's file that use it. */
  readonly fields: string[];
  /** The value stands in LiteLLM's file itself, and must be moved into the variable. */
  readonly literal: boolean;
}

const reference = /^os\.environ\/([A-Za-z_]\w*)$/;

/** Whether a text is somebody's word for no key. */
export const isNoKey = (text: string): boolean =>
  /^(none|empty|null|no-key|not-needed)$/i.test(text);

/** Whether a value of some other name may be a secret all the same: a known beginning, or 20 letters and digits mixed. */
const looksSecret = (text: string): boolean =>
  /^(sk-|bearer |basic |ghp_|hf_|eyJ)/i.test(text) ||
  (/^[\w.+/=-]{20,}$/.test(text) &&
    /\d/.test(text) &&
    /[A-Za-z]/.test(text) &&
    !text.includes("/v"));

/** Collects the variables of one conversion. */
export class Variables {
  readonly #byName = new Map<string, Variable>();
  /** The variable of a literal, so that the same key twice is one variable. Held while the conversion runs, never shown. */
  readonly #ofLiteral = new Map<string, string>();

  all(): readonly Variable[] {
    return [...this.#byName.values()].sort((left, right) => left.name.localeCompare(right.name));
  }

  /** `${name}` of a variable that LiteLLM reads by itself where a field is absent. */
  named(name: string, field: string): string {
    this.#note(name, field, false);
    return `\${${name}}`;
  }

  /** A value that is no secret; a literal that would read as a placeholder of ours goes into a variable. */
  plain(text: string, field: string, wish: string): string {
    const named = reference.exec(text)?.[1];
    if (named !== undefined) return this.named(named, field);
    return text.includes("${") ? this.#literal(text, field, wish) : text;
  }

  /** A secret: always a variable. `wish`: what to call it where the file holds the secret itself. */
  secret(text: string, field: string, wish: string): string {
    const named = reference.exec(text)?.[1];
    return named === undefined ? this.#literal(text, field, wish) : this.named(named, field);
  }

  /** A header or parameter: a secret by its name or by how its value looks. */
  header(name: string, text: string, field: string): string {
    const wish = `HEADER_${name}`;
    return isSecretKey(name) || looksSecret(text)
      ? this.secret(text, field, wish)
      : this.plain(text, field, wish);
  }

  /** Whether a field's value stands in the file itself. */
  isLiteral(text: string): boolean {
    return !reference.test(text);
  }

  #literal(text: string, field: string, wish: string): string {
    const known = this.#ofLiteral.get(text);
    const name = known ?? this.#free(wish);
    this.#ofLiteral.set(text, name);
    this.#note(name, field, true);
    return `\${${name}}`;
  }

  /** A name that no other variable has. */
  #free(wish: string): string {
    const base = wish
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "KEY_");
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}_${number}`;
      if (!this.#byName.has(name)) return name;
    }
  }

  #note(name: string, field: string, literal: boolean): void {
    const variable = this.#byName.get(name);
    if (variable === undefined) this.#byName.set(name, { name, fields: [field], literal });
    else if (!variable.fields.includes(field)) variable.fields.push(field);
  }
}
