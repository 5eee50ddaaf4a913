// Rules of video calls beyond single fields: material, its two spellings, caps, and requests for streaming.
import { describe, expect, it } from "vitest";
import { expirySeconds, mediaAddresses, type MediaForm } from "../../src/media/index.ts";
import {
  errorOf,
  frame,
  frames,
  notesOf,
  read,
  refusalOf,
  requestOf,
  url,
  type FamilyName,
} from "./support.ts";

const asMedia = (...types: string[]) => types.map((type) => ({ type, url }));
const videoFamilies = ["video-v1", "video-v1.5", "video-seconds", "video-tokens"] as const;

describe.each(videoFamilies)("%s", (family) => {
  it.each([
    [{ prompt: "x" }, "text"],
    [{ prompt: "x", reference_images: [] }, "text"],
    [{ image: frame }, "image"],
    [{ image: frame, last_frame: frame }, "frames"],
    [{ reference_images: frames(1) }, "reference"],
  ])("%j is %s-to-video", (fields, mode) => {
    expect(requestOf(family, fields).mode).toBe(mode);
  });

  it.each([
    [{}, "prompt_or_media_required prompt"],
    [{ prompt: " " }, "prompt_or_media_required prompt"],
    [{ reference_images: [] }, "prompt_or_media_required prompt"],
    [{ media: [] }, "prompt_or_media_required prompt"],
    [{ last_frame: frame, prompt: "x" }, "invalid_value last_frame"],
    [{ image: frame, reference_images: frames(1) }, "invalid_value reference_images"],
    [{ last_frame: frame, reference_images: frames(1) }, "invalid_value reference_images"],
    [{ reference_audios: [], prompt: "x" }, "unsupported_parameter reference_audios"],
    [
      { keyframes: [{ image: frame, timestamp_s: 2 }], prompt: "x" },
      "unsupported_parameter keyframes",
    ],
  ])("%j is refused: %s", (fields, refusal) => {
    expect(refusalOf(family, fields)).toBe(refusal);
  });

  it("the media list means the same as the dedicated fields", () => {
    const references = Array.from({ length: 14 }, () => "reference_image");
    const pairs = [
      [{ media: asMedia("first_frame") }, { image: frame }],
      [{ media: asMedia("last_frame", "first_frame") }, { image: frame, last_frame: frame }],
      [{ media: asMedia(...references) }, { reference_images: frames(14) }],
      [
        { image: frame, media: asMedia("last_frame") },
        { image: frame, last_frame: frame },
      ],
    ];
    for (const [listed, dedicated] of pairs) {
      expect(requestOf(family, listed!)).toEqual(requestOf(family, dedicated!));
    }
  });

  it.each([
    [{ media: asMedia("first_frame", "first_frame") }, "too_many_images media"],
    [{ media: asMedia("first_frame"), image: frame }, "invalid_value media"],
    [{ media: asMedia("reference_image"), reference_images: frames(1) }, "invalid_value media"],
    [{ media: asMedia("last_frame") }, "invalid_value last_frame"],
    [{ media: asMedia("reference_image"), image: frame }, "invalid_value reference_images"],
    [
      { media: Array.from({ length: 15 }, () => ({ type: "reference_image", url })) },
      "too_many_images media",
    ],
    [
      { media: [...asMedia("first_frame"), { type: "last_frame" }] },
      "missing_required_parameter media[1].url",
    ],
  ])("%j in the list is refused: %s", (fields, refusal) => {
    expect(refusalOf(family, fields)).toBe(refusal);
  });

  it("an empty list beside a full one is no conflict", () => {
    const fields = { media: asMedia("reference_image"), reference_images: [] };
    expect(requestOf(family, fields).references).toEqual([url]);
  });

  it.each([
    [{ stream: true }, "streaming_not_supported stream"],
    [{ stream: "true" }, "streaming_not_supported stream"],
    [{ partial_images: 1 }, "streaming_not_supported partial_images"],
    [{ stream: "maybe" }, "invalid_type stream"],
    [{ partial_images: -1 }, "integer_below_min_value partial_images"],
  ])("streaming with %j is refused: %s", (fields, refusal) => {
    expect(refusalOf(family, { prompt: "x", ...fields })).toBe(refusal);
  });

  it("fields that ask for no streaming pass without a note", () => {
    const fields = { prompt: "x", stream: false, partial_images: 0 };
    expect(notesOf(family, fields)).toEqual([]);
  });

  it("a bare string is refused with an example of the right form", () => {
    for (const [name, value] of [
      ["image", url],
      ["last_frame", url],
      ["reference_images", [url]],
    ] as const) {
      const fault = errorOf(family, { prompt: "x", [name]: value });
      expect([fault.code, fault.message.includes('{"url": "https://..."}')]).toEqual([
        "media_must_be_object",
        true,
      ]);
    }
  });

  it("unknown members of material are noted with their path", () => {
    const fields = { image: { url, detail: 1 }, media: [{ type: "last_frame", url, voice: "a" }] };
    expect(read(family, fields).notes.map(({ param }) => param)).toEqual([
      "image.detail",
      "media[0].voice",
    ]);
  });
});

describe("the duration limit with material", () => {
  const references = { reference_images: frames(1) };
  const listed = { media: asMedia("reference_image") };
  const ends = { image: frame, last_frame: frame };
  it.each([
    ["video-v1", references, 10],
    ["video-v1", listed, 10],
    ["video-v1", ends, 10],
    ["video-v1", { image: frame }, 15],
    ["video-v1.5", references, 15],
    ["video-v1.5", ends, 15],
    ["video-seconds", references, 15],
    ["video-tokens", ends, 15],
  ] as const)("%s with %j makes at most %i s", (family, material, most) => {
    expect(requestOf(family, { ...material, duration: most }).durationSeconds).toBe(most);
    const above = refusalOf(family, { ...material, duration: most + 1 });
    expect(above).toBe("duration_above_max duration");
  });

  it("also applies at the native endpoint", () => {
    const more = { form: "videos" } as const;
    expect(refusalOf("video-v1", { ...references, duration: 11 }, more)).toBe(
      "duration_above_max duration",
    );
  });
});

describe("aspect_ratio with a first frame", () => {
  it.each(["video-v1", "video-v1.5", "video-seconds"] as const)(
    "%s ignores it: none is sent, and a given one is noted",
    (family) => {
      expect(requestOf(family, { image: frame })).not.toHaveProperty("aspectRatio");
      const { request, notes } = read(family, { image: frame, aspect_ratio: "1:1" });
      expect(request).not.toHaveProperty("aspectRatio");
      expect(notes).toMatchObject([{ param: "aspect_ratio", kind: "ignored" }]);
    },
  );

  it("video-tokens leaves it to the vendor, unless the caller sets it", () => {
    expect(requestOf("video-tokens", { image: frame })).not.toHaveProperty("aspectRatio");
    expect(requestOf("video-tokens", { image: frame, aspect_ratio: "1:1" }).aspectRatio).toBe(
      "1:1",
    );
  });

  it("references keep their aspect_ratio", () => {
    expect(requestOf("video-v1", { reference_images: frames(2) }).aspectRatio).toBe("16:9");
  });
});

describe("fields of other families", () => {
  it.each([
    ["video-v1", "tasks", "prompt_extend"],
    ["video-v1", "tasks", "generate_audio"],
    ["video-v1", "videos", "audio"],
    ["video-v1", "videos", "media"],
    ["video-v1", "tasks", "execution_expires_after"],
    ["video-seconds", "tasks", "audio"],
    ["video-seconds", "tasks", "prompt_extend"],
    ["video-tokens", "tasks", "return_last_frame"],
  ] as [FamilyName, MediaForm, string][])(
    "%s on %s: %s is dropped and noted",
    (family, form, name) => {
      const { notes } = read(family, { prompt: "x", [name]: true }, { form });
      expect(notes).toMatchObject([{ param: name, kind: "dropped" }]);
    },
  );

  it.each([
    ["video-v1", "tasks", "generate_audio", "its name at this endpoint is audio, dropped"],
    ["video-v1", "videos", "audio", "its name at this endpoint is generate_audio, dropped"],
    ["video-v1", "videos", "media", "not a field of this endpoint, dropped"],
    ["video-seconds", "tasks", "generate_audio", "not supported by this model, dropped"],
  ] as const)(
    "%s on %s: the note about %s names the model's own field, if there is one",
    (family, form, name, detail) => {
      const { notes } = read(family, { prompt: "x", [name]: false }, { form });
      expect(notes).toEqual([{ param: name, kind: "dropped", detail }]);
    },
  );

  it("notes have the order of the caller's fields", () => {
    const fields = { zebra: 1, image: frame, aspect_ratio: "1:1", apple: 2 };
    expect(notesOf("video-v1", fields).map((note) => note.split(":")[0])).toEqual([
      "zebra",
      "aspect_ratio",
      "apple",
    ]);
  });

  it("an uploaded file is refused as material", () => {
    const file = { name: "u", mediaType: "image/png", bytes: 1, width: 1, height: 1 } as const;
    const more = { images: [{ ...file, hasAlpha: false }], encoding: "multipart" } as const;
    expect(refusalOf("video-v1", { prompt: "x" }, more)).toBe("invalid_type image");
  });
});

describe("the addresses and the expiry of a request", () => {
  it("include every address by the field that it stands for, and no inline picture", () => {
    const data = "data:image/png;base64,AAAA";
    expect(
      mediaAddresses(requestOf("video-v1", { image: frame, last_frame: { url: data } })),
    ).toEqual([{ param: "image.url", url }]);
    const pictures = [url, data, url].map((one) => ({ type: "reference_image", url: one }));
    const listed = { media: pictures };
    expect(mediaAddresses(requestOf("video-v1", listed)).map(({ param }) => param)).toEqual([
      "reference_images[0].url",
      "reference_images[2].url",
    ]);
    expect(mediaAddresses(requestOf("image-c", { prompt: "x" }))).toEqual([]);
  });

  it("are a day for a task, or the time that a token-billed video asks for", () => {
    expect(expirySeconds(requestOf("video-v1", { prompt: "x" }))).toBe(86_400);
    expect(expirySeconds(requestOf("task-image-1", { prompt: "x" }))).toBe(86_400);
    expect(expirySeconds(requestOf("video-tokens", { prompt: "x" }))).toBe(172_800);
    const sooner = { prompt: "x", execution_expires_after: 3600 };
    expect(expirySeconds(requestOf("video-tokens", sooner))).toBe(3600);
  });
});
