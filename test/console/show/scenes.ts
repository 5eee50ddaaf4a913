/** Landscapes for the pictures of the console: like the output of an image model, drawn here from a seed. */
import sharp from "sharp";

interface Palette {
  readonly sky: readonly [top: string, bottom: string];
  readonly sun: string;
  /** From the farthest to the nearest. */
  readonly hills: readonly string[];
}

const palettes: readonly Palette[] = [
  {
    sky: ["#1d3557", "#f4a261"],
    sun: "#ffe8b6",
    hills: ["#a6604a", "#7a4255", "#4a2e4f", "#241a33"],
  },
  {
    sky: ["#8ecae6", "#f1faee"],
    sun: "#ffffff",
    hills: ["#a8c5b5", "#74a892", "#3f7d6b", "#1f4f47"],
  },
  {
    sky: ["#0b132b", "#3a506b"],
    sun: "#e0e6f0",
    hills: ["#2b3f5c", "#1f2f48", "#152238", "#0a1424"],
  },
  {
    sky: ["#f28482", "#f7ede2"],
    sun: "#fff4d6",
    hills: ["#d9a5a0", "#b57a86", "#84577c", "#4f3a63"],
  },
  {
    sky: ["#219ebc", "#cdeffb"],
    sun: "#fff3c4",
    hills: ["#e9d8a6", "#d9b778", "#b98b4e", "#7a5a36"],
  },
];

/** The outline of a hill: three waves of different lengths, the same each time. */
function hill(size: number, layer: number, seed: number): string {
  const base = size * (0.5 + layer * 0.13);
  const height = size * (0.09 - layer * 0.012);
  const points: string[] = [];
  for (let x = 0; x <= size; x += size / 64) {
    const at = (x / size) * Math.PI * 2;
    const y =
      base -
      height *
        (Math.sin(at * (1 + layer * 0.4) + seed * 1.7 + layer) +
          0.5 * Math.sin(at * 2.7 + seed * 3.1) +
          0.2 * Math.sin(at * 6.3 + layer * 2));
    points.push(`${x.toFixed(1)},${y.toFixed(1)}`);
  }
  return `M0,${size} L${points.join(" L")} L${size},${size} Z`;
}

/** A JPEG of `size` pixels square. */
export function sceneOf(seed: number, size = 768): Promise<Buffer> {
  const { sky, sun, hills } = palettes[seed % palettes.length]!;
  const layers = hills
    .map((color, layer) => `<path d="${hill(size, layer, seed)}" fill="${color}"/>`)
    .join("");
  const x = size * (0.25 + 0.5 * Math.abs(Math.sin(seed * 2.3)));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">
    <defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
      <stop offset="0" stop-color="${sky[0]}"/><stop offset="0.7" stop-color="${sky[1]}"/>
    </linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#sky)"/>
    <circle cx="${x}" cy="${size * 0.36}" r="${size * 0.075}" fill="${sun}"/>${layers}</svg>`;
  return sharp(Buffer.from(svg)).jpeg({ quality: 82 }).toBuffer();
}
