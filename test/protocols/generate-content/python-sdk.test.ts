/** Bytes in the alphabet of URLs, as Google's SDK for Python sends them. CONV-417, CONV-517. */
import { expect, it } from "vitest";
import { routeOf } from "../../conversion/route.ts";

const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xfb, 0xff, 0xbe, 0xff]);
const plain = bytes.toString("base64");
const forUrls = bytes.toString("base64url");

it.each([forUrls, `${forUrls}=`, plain, `${plain.slice(0, 8)}\r\n${plain.slice(8)}`])(
  "media as %s reach other protocols as plain base64",
  (data) => {
    expect(plain).toMatch(/[+/].*=$/);
    const body = {
      contents: [{ role: "user", parts: [{ inlineData: { mimeType: "image/png", data } }] }],
    };
    const sent = (to: "chat" | "responses" | "messages" | "converse") =>
      JSON.stringify(routeOf("generate_content", to, body).body);
    expect(sent("chat")).toContain(`"data:image/png;base64,${plain}"`);
    expect(sent("responses")).toContain(`"data:image/png;base64,${plain}"`);
    expect(sent("messages")).toContain(`"data":"${plain}"`);
    expect(sent("converse")).toContain(`"bytes":"${plain}"`);
    // Google reads every form: the direct route forwards the caller's bytes.
    expect(JSON.stringify(routeOf("generate_content", "generate_content", body).body)).toContain(
      JSON.stringify(data),
    );
  },
);

it("pictures in results of tools reach other protocols as plain base64", () => {
  const picture = { inlineData: { mimeType: "image/png", data: forUrls } };
  const call = { functionCall: { id: "c1", name: "look", args: {} } };
  const response = { id: "c1", name: "look", response: { output: "see" }, parts: [picture] };
  const body = {
    contents: [
      { role: "user", parts: [{ text: "Look." }] },
      { role: "model", parts: [call] },
      { role: "user", parts: [{ functionResponse: response }] },
    ],
    tools: [{ functionDeclarations: [{ name: "look" }] }],
  };
  const sent = JSON.stringify(routeOf("generate_content", "messages", body).body);
  expect(sent).toContain(`"data":"${plain}"`);
});
