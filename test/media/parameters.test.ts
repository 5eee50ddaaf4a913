// `supported_parameters` of media models, compared with what calls accept: every limit of a domain holds on both sides.
import { describe, expect, it } from "vitest";
import type { ParameterDomain } from "../../src/catalog/index.ts";
import { families, mediaParameters, type MediaForm } from "../../src/media/index.ts";
import { fieldsOf } from "../../src/media/read.ts";
import { frame, read, upload, type FamilyName, type Fields } from "./support.ts";

/** True if a call with the value is accepted and the value is not dropped. */
function isAccepted(family: FamilyName, form: MediaForm, fields: Fields): boolean {
  const images = form === "edits" ? [upload()] : [];
  try {
    const { notes } = read(family, fields, { form, images });
    return notes.every(({ kind }) => kind === "ignored" || kind === "rewritten");
  } catch {
    return false;
  }
}

/** The values that another field must have for this one to count. */
const beside: Record<string, Fields> = {
  output_compression: { output_format: "jpeg" },
  partial_images: { stream: true },
  last_frame: { image: frame },
  image_size: { aspect_ratio: "1:1" },
  input_fidelity: {},
};

function samples({ type, values, min, max, pattern }: ParameterDomain): {
  readonly inside: readonly unknown[];
  readonly outside: readonly unknown[];
} {
  const numbers = (bound: number | undefined) => (bound === undefined ? [] : [bound]);
  switch (type) {
    case "enum":
      return { inside: values!, outside: ["no-such-value", 7] };
    case "integer":
      return {
        inside: [...numbers(min), ...numbers(max)],
        outside: [min! - 1, max! + 1, min! + 0.5],
      };
    case "boolean":
      return { inside: [true, false], outside: ["yes"] };
    case "array":
      return max === undefined
        ? { inside: [[]], outside: ["x"] }
        : {
            inside: [Array.from({ length: max }, () => frame)],
            outside: [Array.from({ length: max + 1 }, () => frame)],
          };
    case "object":
      return { inside: [frame], outside: ["x"] };
    default:
      return {
        inside: pattern === undefined ? ["x".repeat(max ?? 5)] : ["1280x720"],
        outside: [7, ...(max === undefined ? [] : ["x".repeat(max + 1)])],
      };
  }
}

const names = Object.keys(families) as FamilyName[];

describe.each(names)("%s", (family) => {
  const domains = mediaParameters(family);

  it("has a domain for every field of every form, and for the files", () => {
    const { forms, files } = families[family];
    const fields = forms.flatMap((form) =>
      fieldsOf(families[family], form).map(({ name }) => name),
    );
    const expected = [...fields, ...(files ? ["image"] : []), ...(files?.mask ? ["mask"] : [])];
    expect(Object.keys(domains).toSorted()).toEqual([...new Set(expected)].toSorted());
  });

  it("accepts each value of a domain, and no other", () => {
    let tried = 0;
    for (const form of families[family].forms) {
      for (const { name } of fieldsOf(families[family], form)) {
        const base = { prompt: "x", ...beside[name] };
        const { inside, outside } = samples(domains[name]!);
        // The valid sizes of a ratio at a tier, and fields for edits only, are rules between fields (image.test.ts).
        const crossing = name === "image_size" || name === "input_fidelity";
        for (const value of crossing ? [] : inside) {
          expect([name, value, isAccepted(family, form, { ...base, [name]: value })]).toEqual([
            name,
            value,
            true,
          ]);
          tried += 1;
        }
        const forwards = families[family].name === "task-image-2" && name === "size";
        for (const value of forwards ? [7] : outside) {
          expect([name, value, isAccepted(family, form, { ...base, [name]: value })]).toEqual([
            name,
            value,
            false,
          ]);
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(20);
  });

  it("has each default within its domain", () => {
    const isInside = ({ values, min, max, default: value }: ParameterDomain) =>
      typeof value === "number"
        ? value >= min! && value <= max!
        : values?.includes(value as string);
    const outside = Object.entries(domains).filter(
      ([, domain]) =>
        domain.default !== undefined && domain.type !== "boolean" && isInside(domain) !== true,
    );
    expect(outside).toEqual([]);
  });
});

describe("the domain of size", () => {
  it("has the presets and the grammar of other sizes", () => {
    expect(mediaParameters("image-a")["size"]).toEqual({
      type: "enum",
      values: ["1024x1024", "1536x1024", "1024x1536", "auto"],
      pattern: "^(auto|[1-9][0-9]*x[1-9][0-9]*)$",
      multiple_of: 16,
      default: "auto",
    });
    expect(mediaParameters("task-image-2")["size"]).not.toHaveProperty("pattern");
    expect(mediaParameters("image-c")["size"]).toEqual({
      type: "string",
      pattern: "^([1-9][0-9]*x[1-9][0-9]*)$",
      multiple_of: 16,
    });
  });
});
