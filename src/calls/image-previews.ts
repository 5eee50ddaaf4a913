/** The events of a streamed image answer. IMG-28, EDIT2-26, EDIT2-27. */
import type { ImageEvent } from "../upstream/index.ts";
import type { ImageContext } from "./image-context.ts";
import { pictureOf, renderedAs } from "./image-pictures.ts";
import { recordFirstToken } from "./record.ts";

/** What the names of a call's events begin with. */
export const eventPrefix = ({ request }: ImageContext): string =>
  request.images.length > 0 ? "image_edit" : "image_generation";

/** Sends a preview, and waits until the client has taken it. */
export async function sendPreview(
  context: ImageContext,
  { base64, index, rendered }: Extract<ImageEvent, { type: "partial" }>,
): Promise<void> {
  const { services, reply, record, request } = context;
  const now = services.clock.now();
  const type = `${eventPrefix(context)}.partial_image`;
  const event = {
    type,
    b64_json: base64,
    created_at: Math.floor(now / 1000),
    ...renderedAs(request, rendered, pictureOf(base64)),
    partial_image_index: index,
  };
  if (record.firstTokenMs === null) recordFirstToken(record, now);
  const taken = reply.write([{ event: type, data: JSON.stringify(event) }]);
  if (taken || reply.gone) return;
  // A slow client holds back the vendor.
  await new Promise<void>((resolve) => {
    reply.onDrain(resolve);
    reply.onGone(resolve);
  });
}
