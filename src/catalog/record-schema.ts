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
      Type.Enum(["between_tools"], { description: "the vendor's own word for off" }),
    ),
    values: Type.Optional(
      Type.Array(text("an effort"), {
        minItems: 1,
        uniqueItems: true,
        description: "the efforts it knows, the least first; none is not one of them",
      }),
    ),
    min: Type.Optional(Type.Number({ description: "the least budget, in tokens" })),
    max: Type.Optional(
      Type.Number({ description: "the largest budget, in tokens; unknown if absent" }),
    ),
    field: Type.Optional(
      Type.Enum([...reasoningFields], {
        description:
          "how chat and Converse ask for it; in chat reasoning_effort if absent, in Converse not at all",
      }),
    ),
    excludes: Type.Optional(
      Type.Array(text("a parameter"), {
        minItems: 1,
        description: "parameters that are refused while it reasons, by chat-completions name",
      }),
    ),
  },
  "how the model reasons, and what of it a caller chooses; unknown if absent",
);

const toolChoice = closed(
  {
    modes: Type.Array(Type.Enum([...toolChoiceModes]), {
      minItems: 1,
      uniqueItems: true,
      description: "which of auto, none, required (some tool) and named (this tool) it takes",
    }),
    forced_while_reasoning: Type.Optional(
      Type.Boolean({
        description: "whether required and named may stand beside reasoning; unknown if absent",
      }),
    ),
  },
  "which choices of tools it takes; unknown if absent",
);

const modalityList = (what: string) =>
  Type.Array(Type.Enum([...modalities]), {
    minItems: 1,
    uniqueItems: true,
    description: `what ${what}: text, image, audio, video, pdf; unknown if absent`,
  });

const lifecycle = closed(
  {
    stage: Type.Enum(["preview", "deprecated"], { description: "preview or deprecated" }),
    retires_at: Type.Optional(moment("when the vendor takes it out of service")),
    replacement: Type.Optional(text("what to use instead")),
  },
  "a model not, or not for long, to build on; in service if absent",
);

/** The keys of a record, on the model itself. */
export const recordKeys = {
  parameters: Type.Optional(parameters),
  reasoning: Type.Optional(reasoning),
  tool_choice: Type.Optional(toolChoice),
  structured_outputs: Type.Optional(
    Type.Boolean({ description: "whether answers can be held to a schema; unknown if absent" }),
  ),
  prefill: Type.Optional(
    Type.Boolean({
      description: "whether a conversation may end with the answer's beginning; unknown if absent",
    }),
  ),
  input_modalities: Type.Optional(modalityList("goes in")),
  output_modalities: Type.Optional(modalityList("comes out")),
  lifecycle: Type.Optional(lifecycle),
};

/** Where a provider's model differs from the model's own record. */
export const offerRecord = closed(
  {
    ...recordKeys,
    context_length: Type.Optional(count("input and output tokens together")),
    max_output_tokens: Type.Optional(count("the most a call can produce")),
  },
  "what is different about the model at this provider; as the model itself if absent",
);

export type RecordRow = Static<typeof offerRecord>;
