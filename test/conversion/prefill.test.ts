/** Conversations that end with a model's turn (prefill), which the model must continue. TXT-05. */
import { describe, it } from "vitest";
import { conversions, showCase, titled, type Body } from "./world.ts";

const world = conversions();

const userTurn = (content: unknown): Body => ({ role: "user", content });
const chat = (...messages: Body[]): Body => ({ messages });
const text = (value: string): Body => ({ type: "text", text: value });

describe("a conversation that ends with a model's turn", () => {
  const prefix = "Here it is:";
  const spaced = `${prefix} \n`;
  const model = (content: unknown): Body => ({ role: "assistant", content });
  it.each(
    titled([
      {
        title:
          "TXT-05: loses white space at its end, which the vendor refuses; the loss is reported",
        from: "chat",
        to: "messages",
        body: chat(userTurn("Where?"), model(spaced)),
        up: { messages: [userTurn([text("Where?")]), model([text(prefix)])] },
        reported: ["messages"],
      },
      {
        title: "TXT-05: loses white space at its end from a responses caller",
        from: "responses",
        to: "messages",
        body: { input: [userTurn("Where?"), model([{ type: "output_text", text: spaced }])] },
        up: { messages: [{ role: "user" }, model([text(prefix)])] },
        reported: ["input"],
      },
      {
        title:
          "TXT-05: loses white space at its end from a generateContent caller, whose pieces are joined",
        from: "generate_content",
        to: "messages",
        body: {
          contents: [
            { role: "user", parts: [{ text: "Where?" }] },
            { role: "model", parts: [{ text: "Here it" }] },
            { role: "model", parts: [{ text: " is:" }, { text: " \n" }] },
          ],
        },
        up: { messages: [{ role: "user" }, model([text(prefix)])] },
        reported: ["contents"],
      },
      {
        title: "TXT-05: keeps white space at the end of earlier answers and of questions",
        from: "chat",
        to: "messages",
        body: chat(userTurn("Where?"), model(spaced), userTurn("Where? ")),
        up: {
          messages: [
            userTurn([text("Where?")]),
            model([text(spaced)]),
            userTurn([text("Where? ")]),
          ],
        },
      },
      {
        title: "TXT-05: keeps white space at its end for a vendor that accepts it",
        from: "messages",
        to: "chat",
        body: chat(userTurn("Where?"), model(spaced)),
        up: chat(userTurn("Where?"), model(spaced)),
      },
      {
        title: "T39: is continued without reasoning, which the vendor refuses there",
        from: "chat",
        to: "messages",
        body: {
          ...chat(userTurn("Where?"), model(prefix)),
          reasoning_effort: "high",
          temperature: 0.5,
        },
        up: { messages: [userTurn([text("Where?")]), model([text(prefix)])], temperature: 0.5 },
        absent: ["thinking"],
        reported: ["reasoning_effort"],
      },
      {
        title: "T39: is continued without a budget from a generateContent caller",
        from: "generate_content",
        to: "messages",
        body: {
          contents: [
            { role: "user", parts: [{ text: "Where?" }] },
            { role: "model", parts: [{ text: prefix }] },
          ],
          generationConfig: { thinkingConfig: { thinkingBudget: 2048 } },
        },
        up: { messages: [{ role: "user" }, model([text(prefix)])] },
        absent: ["thinking"],
        reported: ["generationConfig.thinkingConfig.thinkingBudget"],
      },
      {
        title: "T39: of an earlier answer does not switch reasoning off",
        from: "chat",
        to: "messages",
        body: {
          ...chat(userTurn("Where?"), model(prefix), userTurn("Go on")),
          reasoning_effort: "low",
        },
        up: { thinking: { type: "enabled", budget_tokens: 1024 } },
        reported: [],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});
