/**
 * Real MP4 files of a wanted size and length, playable from their first byte on: the index stands before the data.
 * docs/sandbox.md.
 */
import { audioConfig, sampleRateHz, samplesPerFrame, silentFrame } from "./aac.ts";
import { ascii, box, fullBox, plainMatrix, u16, u32, u8, zeros } from "./boxes.ts";
import type { Colour } from "./h264.ts";
import { keyFrame, pictureSet, repeatFrame, sequenceSet } from "./h264.ts";

export interface Video {
  /** Even numbers of pixels. */
  readonly width: number;
  readonly height: number;
  /** Rounded to whole frames, at least one. */
  readonly seconds: number;
  /** With a silent track. */
  readonly audio: boolean;
  /** Equal seeds give equal files. */
  readonly seed: number;
}

export const framesPerSecond = 24;
const movieTicksPerSecond = 1000;
const ticksPerFrame = 1000;
const videoTicksPerSecond = framesPerSecond * ticksPerFrame;

interface Track {
  readonly ticksPerSecond: number;
  /** Runs of samples of one length: how many, and how long in ticks. */
  readonly durations: readonly (readonly [count: number, ticks: number])[];
  readonly samples: readonly Buffer[];
  readonly kind: "video" | "audio";
  readonly width: number;
  readonly height: number;
  readonly description: Buffer;
  /** Only the first sample can be decoded without the others. */
  readonly oneKey: boolean;
}

/** How many frames a video of this length has. */
export const frameCount = (seconds: number): number =>
  Math.max(1, Math.round(seconds * framesPerSecond));

/** The whole file. A minute of 1080p takes some ten milliseconds and 30 kB. */
export function mp4Of(video: Video): Buffer {
  const tracks = [videoTrack(video), ...(video.audio ? [audioTrack(video)] : [])];
  const start = box("ftyp", ascii("isom"), u32(0x200), ascii("isomiso2avc1mp41"));
  // The index has the same length wherever it says the data is.
  const indexLength = movieBox(tracks, 0).length;
  const index = movieBox(tracks, start.length + indexLength + 8);
  return Buffer.concat([start, index, box("mdat", ...tracks.flatMap((track) => track.samples))]);
}

function videoTrack({ width, height, seconds, seed }: Video): Track {
  const picture = { width, height, colour: colourOf(seed) };
  const count = frameCount(seconds);
  const samples = [withLength(keyFrame(picture))];
  for (let index = 1; index < count; index += 1) {
    samples.push(withLength(repeatFrame(picture, index)));
  }
  const sequence = sequenceSet(picture);
  const pictures = pictureSet();
  const config = box(
    "avcC",
    u8(1, sequence[1]!, sequence[2]!, sequence[3]!, 0xff, 0xe1),
    u16(sequence.length),
    sequence,
    u8(1),
    u16(pictures.length),
    pictures,
  );
  const description = box(
    "avc1",
    zeros(6),
    u16(1),
    zeros(16),
    u16(width, height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    zeros(32),
    u16(24, 0xffff),
    config,
  );
  return {
    ticksPerSecond: videoTicksPerSecond,
    durations: [[count, ticksPerFrame]],
    samples,
    kind: "video",
    width,
    height,
    description,
    oneKey: true,
  };
}

/** As long as the pictures, its last frame cut short. */
function audioTrack({ seconds }: Video): Track {
  const samples = Math.round((frameCount(seconds) * sampleRateHz) / framesPerSecond);
  const count = Math.ceil(samples / samplesPerFrame);
  const last = samples - (count - 1) * samplesPerFrame;
  const descriptor = (tag: number, ...parts: readonly Buffer[]) => {
    const content = Buffer.concat(parts);
    return Buffer.concat([u8(tag, content.length), content]);
  };
  const decoder = descriptor(4, u8(0x40, 0x15, 0, 0, 0), u32(0, 0), descriptor(5, audioConfig));
  const stream = descriptor(3, u16(0), u8(0), decoder, descriptor(6, u8(2)));
  const description = box(
    "mp4a",
    zeros(6),
    u16(1),
    zeros(8),
    u16(1, 16, 0, 0),
    u32(sampleRateHz * 2 ** 16),
    fullBox("esds", 0, stream),
  );
  return {
    ticksPerSecond: sampleRateHz,
    durations: [...(count > 1 ? [[count - 1, samplesPerFrame] as const] : []), [1, last] as const],
    samples: Array.from({ length: count }, () => silentFrame),
    kind: "audio",
    width: 0,
    height: 0,
    description,
    oneKey: false,
  };
}

/** Far enough from grey in each part that another seed is another colour to the eye. */
function colourOf(seed: number): Colour {
  const step = (shift: number) => ((seed >>> shift) % 37) - 18;
  return { luma: step(0), blue: step(8), red: step(16) };
}

const withLength = (unit: Buffer) => Buffer.concat([u32(unit.length), unit]);
const bytesOf = ({ samples }: Track) => samples.reduce((sum, sample) => sum + sample.length, 0);

const movieTicks = ({ durations, ticksPerSecond }: Track): number => {
  const ticks = durations.reduce((sum, [count, each]) => sum + count * each, 0);
  return Math.round((ticks * movieTicksPerSecond) / ticksPerSecond);
};

function movieBox(tracks: readonly Track[], dataStart: number): Buffer {
  let offset = dataStart;
  const boxes = tracks.map((track, index) => {
    const made = trackBox(track, index + 1, offset);
    offset += bytesOf(track);
    return made;
  });
  const header = fullBox(
    "mvhd",
    0,
    u32(0, 0, movieTicksPerSecond, Math.max(...tracks.map(movieTicks)), 0x10000),
    u16(0x100),
    zeros(10),
    plainMatrix,
    zeros(24),
    u32(tracks.length + 1),
  );
  return box("moov", header, ...boxes);
}

function trackBox(track: Track, id: number, offset: number): Buffer {
  const { kind, durations, ticksPerSecond } = track;
  const ticks = durations.reduce((sum, [count, each]) => sum + count * each, 0);
  const isVideo = kind === "video";
  const header = fullBox(
    "tkhd",
    3,
    u32(0, 0, id, 0, movieTicks(track), 0, 0),
    u16(0, 0, isVideo ? 0 : 0x100, 0),
    plainMatrix,
    u32(track.width * 2 ** 16, track.height * 2 ** 16),
  );
  const handler = fullBox(
    "hdlr",
    0,
    u32(0),
    ascii(isVideo ? "vide" : "soun"),
    zeros(12),
    ascii(`${kind}\0`),
  );
  const media = box(
    "mdia",
    fullBox("mdhd", 0, u32(0, 0, ticksPerSecond, ticks), u16(0x55c4, 0)),
    handler,
    box(
      "minf",
      isVideo ? fullBox("vmhd", 1, zeros(8)) : fullBox("smhd", 0, zeros(4)),
      box("dinf", fullBox("dref", 0, u32(1), fullBox("url ", 1))),
      sampleTable(track, offset),
    ),
  );
  return box("trak", header, media);
}

/** Where each sample is: all of a track's samples stand in one chunk. */
function sampleTable({ samples, durations, description, oneKey }: Track, offset: number): Buffer {
  return box(
    "stbl",
    fullBox("stsd", 0, u32(1), description),
    fullBox("stts", 0, u32(durations.length, ...durations.flat())),
    ...(oneKey ? [fullBox("stss", 0, u32(1, 1))] : []),
    fullBox("stsc", 0, u32(1, 1, samples.length, 1)),
    fullBox("stsz", 0, u32(0, samples.length, ...samples.map((sample) => sample.length))),
    fullBox("stco", 0, u32(1, offset)),
  );
}
