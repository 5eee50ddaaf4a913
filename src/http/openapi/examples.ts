/** The example requests of the text endpoints: the same question and the same tool in each protocol. */
import type { Node } from "./document.ts";

/** The question that makes a model call the tool. */
export const weatherQuestion = "What is the weather in Paris?";

/** The tool. */
export const weather = {
  name: "get_weather",
  description: "The weather in a city now.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/**
 * The examples of an endpoint whose body can ask for a stream: the question `hello`, the same as a stream, and `hello` with the members
 * of `withTool` added or replaced.
 */
export const requestExamples = (hello: Node, withTool: Node): Record<string, Node> => ({
  hello: { summary: "One question", value: hello },
  stream: { summary: "A stream", value: { ...hello, stream: true } },
  tools: { summary: "A tool call", value: { ...hello, ...withTool } },
});
