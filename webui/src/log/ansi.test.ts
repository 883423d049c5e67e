import { describe, expect, it } from "vitest";
import { parseAnsi, plainText } from "./ansi";

const ESC = String.fromCharCode(27);

describe("parseAnsi", () => {
  it("leaves ordinary text alone, markup included", () => {
    const text = "<script>alert(1)</script> & <img onerror=x>";
    expect(parseAnsi(text)).toEqual([{ text, style: null }]);
  });

  it("cuts a line where its colours change", () => {
    const runs = parseAnsi(`a ${ESC}[1;31mred${ESC}[0m b`);
    expect(runs.map((run) => run.text)).toEqual(["a ", "red", " b"]);
    expect(runs[1]?.style).toMatchObject({ fg: 1, bold: true });
    expect(runs[2]?.style).toBeNull();
  });

  it("brings 256 and true colours to the sixteen of the theme", () => {
    expect(parseAnsi(`${ESC}[38;5;196mx`)[0]?.style?.fg).toBe(9);
    expect(parseAnsi(`${ESC}[38;2;0;200;0mx`)[0]?.style?.fg).toBe(10);
    expect(parseAnsi(`${ESC}[48;5;4mx`)[0]?.style?.bg).toBe(4);
  });

  it("reads an attribute that follows an extended colour", () => {
    expect(parseAnsi(`${ESC}[38;5;2;4mx`)[0]?.style).toMatchObject({ fg: 2, underline: true });
  });

  it("drops links, titles, cursor moves and other controls", () => {
    const link = `${ESC}]8;;javascript:alert(1)${ESC}\\click${ESC}]8;;${ESC}\\`;
    expect(plainText(link)).toBe("click");
    expect(plainText(`${ESC}]0;title${String.fromCharCode(7)}x${ESC}[2J${ESC}[10;20Hy`)).toBe("xy");
    expect(plainText(`a${String.fromCharCode(0)}b${ESC}`)).toBe("ab");
  });

  it("shows what a progress bar ended as", () => {
    expect(plainText("  1%\r 50%\r100%\r")).toBe("100%");
  });

  it("expands tabs to the columns of a terminal", () => {
    expect(plainText("a\tb")).toBe("a       b");
    expect(plainText(`${ESC}[1m1234567\t${ESC}[0mx`)).toBe("1234567 x");
  });

  it("makes characters that turn text round visible", () => {
    expect(plainText("a\u202eb")).toBe("a\ufffdb");
  });
});
