/**
 * The two forms of image answers: whole, once all pictures are made, or streamed, with previews before the picture. In both, the end
 * is sent once the charge is committed. STREAM-08, STREAM-09; T14, T15.
 */
import { imageFailover } from "./image-attempts.ts";
import type { ImageContext } from "./image-context.ts";
import { renderedAs } from "./image-pictures.ts";
import { eventPrefix } from "./image-previews.ts";
import { settle } from "./image-settle.ts";
import { recordFirstToken } from "./record.ts";
import { droppedHeader, keptOpen } from "./reply.ts";

/** Makes all pictures, charges them and sends them. @throws AttemptFailure, GatewayError */
export async function answerWhole(context: ImageContext): Promise<void> {
  const { services, reply, record, request, prepared } = context;
  const made = await imageFailover.answer(context, prepared.plan.offers);
  recordFirstToken(record);
  const answer = await settle(context, made, (settled) => ({
    created: Math.floor(services.clock.now() / 1000),
    data: made.pictures.map(({ base64, revisedPrompt }) => ({
      b64_json: base64,
      ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
    })),
    ...renderedAs(request, made.rendered, made.pictures[0]!),
    ...settled,
  }));
  if (!reply.gone) reply.whole(answer, droppedHeader(record.notes));
}

/** Sends previews as they come, then charges the picture, then sends it. @throws AttemptFailure, GatewayError */
export async function answerStream(context: ImageContext): Promise<void> {
  const { services, reply, request, prepared } = context;
  await keptOpen(context, async () => {
    const made = await imageFailover.answer(context, prepared.plan.offers);
    const [picture] = made.pictures;
    const answer = await settle(context, made, (settled) => ({
      type: `${eventPrefix(context)}.completed`,
      b64_json: picture!.base64,
      created_at: Math.floor(services.clock.now() / 1000),
      ...renderedAs(request, made.rendered, picture!),
      ...settled,
    }));
    if (!reply.gone) reply.end([{ event: answer.type, data: JSON.stringify(answer) }]);
  });
}
