/** What the openai-like vendor refuses at chat completions, in its own words. */
import { refuseWhen } from "../checks.ts";
import type { Check } from "../vendor.ts";

export const chatStrict: readonly Check[] = [
  refuseWhen((body) =>
    "messages" in body
      ? undefined
      : {
          message: "Missing required parameter: 'messages'.",
          param: "messages",
          code: "missing_required_parameter",
        },
  ),
];
