/** The schema of a text model's abilities: record.ts by the configuration's names. docs/models.md. */
import { Type, type Static } from "../base/json-schema.ts";
import { modalities, reasoningFields, toolChoiceModes } from "../base/abilities.ts";
import { closed, count, moment, text } from "./schema-kit.ts";

const narrowing = closed({
  type: Type.Optional(
    Type.Enum(["enum", "integer", "number", "boolean", "string", "object", "array"]),
  ),
  values: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number()]), { minItems: 1 })),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
  default: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  pattern: Type.Optional(Type.String()),
  multiple_of: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
});

const parameters = Type.Record(
  Type.String(),
  Type.Union([Type.Literal(false), narrowing], {
    description: "false, or any of type, values, min, max, default, pattern, multiple_of",
  }),
  {
    description: "narrower limits per parameter, by chat-completions name; false: unsupported",
  },
);

/** references.ts checks which keys are allowed for which kind. */
const reasoning = closed(
  {
    kind: Type.Enum(["none", "toggle", "effort", "budget", "adaptive"], {
      description: "none, toggle, effort, budget or adaptive",
    }),
    off: Type.Optional(
      Type.Boolean({ description: "whether it can be switched off; false if absent" }),
    ),
    off_as: Type.Optional(
      Type.Enum(["between_tools"], { description: "the vendor's value for off" }),
    ),
    values: Type.Optional(
      Type.Array(text("an effort"), {
        minItems: 1,
        uniqueItems: true,
        description: "the supported efforts, the least first, without none",
      }),
    ),
    min: Type.Optional(Type.Number({ description: "the least budget, in tokens" })),
    max: Type.Optional(
      Type.Number({ description: "the largest budget, in tokens; unknown if absent" }),
    ),
    field: Type.Optional(
      Type.Enum([...reasoningFields], {
        description:
          "the field that asks for reasoning in chat and Converse; if absent, reasoning_effort in chat, and no field in Converse",
      }),
    ),
    excludes: Type.Optional(
      Type.Array(text("a parameter"), {
        minItems: 1,
        description: "parameters that are refused while it reasons, by chat-completions name",
      }),
    ),
  },
  "how the model reasons, and which of it callers can set; unknown if absent",
);

const toolChoice = closed(
  {
    modes: Type.Array(Type.Enum([...toolChoiceModes]), {
      minItems: 1,
      uniqueItems: true,
      description: "supported modes: auto, none, required (some tool), named (this tool)",
    }),
    forced_while_reasoning: Type.Optional(
      Type.Boolean({
        description: "whether required and named work together with reasoning; unknown if absent",
      }),
    ),
  },
  "supported tool choices; unknown if absent",
);

const modalityList = (direction: string) =>
  Type.Array(Type.Enum([...modalities]), {
    minItems: 1,
    uniqueItems: true,
    description: `${direction} types: text, image, audio, video, pdf; unknown if absent`,
  });

const lifecycle = closed(
  {
    stage: Type.Enum(["preview", "deprecated"], { description: "preview or deprecated" }),
    retires_at: Type.Optional(moment("when the vendor retires it")),
    replacement: Type.Optional(text("the model to use instead")),
  },
  "marks a preview or deprecated model; in service if absent",
);

/** The keys of a record, on the model itself. */
export const recordKeys = {
  parameters: Type.Optional(parameters),
  reasoning: Type.Optional(reasoning),
  tool_choice: Type.Optional(toolChoice),
  structured_outputs: Type.Optional(
    Type.Boolean({
      description: "whether the model supports answers by a JSON schema; unknown if absent",
    }),
  ),
  prefill: Type.Optional(
    Type.Boolean({
      description: "whether the last message may be the beginning of the answer; unknown if absent",
    }),
  ),
  input_modalities: Type.Optional(modalityList("input")),
  output_modalities: Type.Optional(modalityList("output")),
  lifecycle: Type.Optional(lifecycle),
};

/** Where a provider's model differs from the model's own record. */
export const offerRecord = closed(
  {
    ...recordKeys,
    context_length: Type.Optional(count("input and output tokens together")),
    max_output_tokens: Type.Optional(count("the most a call can produce")),
  },
  "fields of the model that differ at this provider; those of the model if absent",
);

export type RecordRow = Static<typeof offerRecord>;
