/** Silence in AAC-LC, mono (ISO/IEC 14496-3): a frame without a single spectral band, the same for every frame. */
import { BitWriter } from "./bits.ts";

export const sampleRateHz = 48_000;
export const samplesPerFrame = 1024;

/** AudioSpecificConfig: AAC-LC, 48 kHz, one channel, frames of 1024 samples. */
export const audioConfig: Buffer = new BitWriter()
  .bits(2, 5)
  .bits(3, 4)
  .bits(1, 4)
  .bits(0, 3)
  .bytes();

/** One silent frame: a single channel element whose highest band is 0, and the end mark. */
export const silentFrame: Buffer = new BitWriter()
  .bits(0, 3 + 4) // single channel element, tag 0
  .bits(0, 8) // global gain
  .bits(0, 1 + 2 + 1) // long window
  .bits(0, 6) // no bands
  .bits(0, 1) // no prediction
  .bits(0, 3) // no pulses, no noise shaping, no gain control
  .bits(0b111, 3) // end
  .bytes();
