import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isLink, isPrintable, LINK_MAX, MESSAGE_MAX, NAME_MAX } from '../../../shared/text.ts'

describe('text on the wall', () => {
  test.each([
    ['a word', 'Ada'],
    ['one letter', 'x'],
    ['a sentence', 'hello, "world" — (100%) <3 & more!'],
    ['markup, which is text', '<script>alert(1)</script>'],
    ['spaces around', ' Ada '],
    ['Latin with accents', 'Élodie Müller'],
    ['combining marks', 'e\u0301 n\u0303'],
    ['Greek and Cyrillic', 'Ωμέγα Ада'],
    ['Arabic letters', 'مرحبا'],
    ['Hebrew letters with points', 'שָׁלוֹם'],
    ['Devanagari with vowel signs', 'नमस्ते'],
    ['Thai', 'สวัสดี'],
    ['Chinese, Japanese, Korean', '你好 こんにちは 안녕'],
    ['digits of other scripts', '١٢٣ ¼ Ⅷ'],
    ['currency and mathematics', '€ £ ∑ √ ≠'],
    ['box drawing', '█▓▒░'],
    ['an emoji', '😀'],
    ['an emoji with its selector', '❤\uFE0F'],
    ['a pictograph shown as text', '❤\uFE0E'],
    ['a family', '👨\u200D👩\u200D👧'],
    ['a couple with selectors', '👩\u200D❤\uFE0F\u200D💋\u200D👨'],
    ['a skin tone', '👋🏽'],
    ['a profession with a skin tone', '👩🏽\u200D🚀'],
    ['a sign of gender', '🤷\u200D♂\uFE0F'],
    ['a pride flag', '🏳\uFE0F\u200D🌈'],
    ['a pirate flag', '🏴\u200D☠\uFE0F'],
    ['a country', '🇫🇷'],
    ['a keycap', '1\uFE0F\u20E3 #\uFE0F\u20E3'],
    ['an old keycap', '1\u20E3'],
    ['eight marks on each letter', `a${'\u0301'.repeat(8)}b${'\u0328'.repeat(8)}`],
  ])('may be %s', (_, text) => {
    expect(isPrintable(text, MESSAGE_MAX)).toBe(true)
  })

  test.each([
    ['nothing', ''],
    ['blanks only', '   '],
    ['a mark on nothing', '\u0301'],
    ['a tower of nine marks', `a${'\u0301'.repeat(9)}b`],
    ['a tower of marks of several kinds', `x${'\u0301\u0489\u20DD'.repeat(3)}`],
    ['marks on blanks', ' \u0301 \u0308'],
    ['a selector on nothing', '\uFE0F'],
    ['a NUL', 'a\0b'],
    ['a tab', 'a\tb'],
    ['a line feed', 'a\nb'],
    ['a carriage return', 'a\rb'],
    ['an escape', 'a\u001B[31mb'],
    ['a delete', 'a\u007Fb'],
    ['a C1 control', 'a\u0085b'],
    ['a line separator', 'a\u2028b'],
    ['a paragraph separator', 'a\u2029b'],
    ['a no-break space', 'a\u00A0b'],
    ['a thin space', 'a\u2009b'],
    ['an ideographic space', 'a\u3000b'],
    ['an ogham space', 'a\u1680b'],
    ['a left-to-right mark', 'a\u200Eb'],
    ['a right-to-left mark', 'a\u200Fb'],
    ['an Arabic letter mark', 'a\u061Cb'],
    ['a right-to-left override', 'a\u202Eb'],
    ['a left-to-right embedding', 'a\u202Ab'],
    ['an isolate', 'a\u2066b'],
    ['the end of an isolate', 'a\u2069b'],
    ['a zero-width space', 'a\u200Bb'],
    ['a zero-width non-joiner', 'a\u200Cb'],
    ['a word joiner', 'a\u2060b'],
    ['a byte order mark', 'a\uFEFFb'],
    ['a soft hyphen', 'a\u00ADb'],
    ['an invisible separator', 'a\u2063b'],
    ['an interlinear anchor', 'a\uFFF9b'],
    ['a Hangul filler', '\u3164'],
    ['a Hangul filler within', 'a\u3164b'],
    ['a choseong filler', 'a\u115Fb'],
    ['a jungseong filler', 'a\u1160b'],
    ['a half-width filler', 'a\uFFA0b'],
    ['a blank braille cell', 'a\u2800b'],
    ['a Khitan filler', 'a\u{16FE4}b'],
    ['a null notehead', 'a\u{1D159}b'],
    ['a grapheme joiner', 'a\u034Fb'],
    ['an inherent Khmer vowel', 'a\u17B4b'],
    ['a Mongolian selector', 'a\u180Bb'],
    ['a Mongolian vowel separator', 'a\u180Eb'],
    ['a tag', 'a\u{E0041}b'],
    ['a flag made of tags', '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}'],
    ['private use', '\uE000'],
    ['supplementary private use', '\u{F0000}'],
    ['an unassigned code point', 'a\u0378b'],
    ['a noncharacter', 'a\uFFFEb'],
    ['a lone high surrogate', 'a\uD800'],
    ['a lone low surrogate', '\uDC00a'],
    ['surrogates the wrong way round', '\uDE00\uD83D'],
    ['a joiner between letters', 'a\u200Db'],
    ['a joiner before an emoji', 'a\u200D😀'],
    ['a joiner after an emoji', '😀\u200Da'],
    ['a joiner at the end', '😀\u200D'],
    ['two joiners', '👨\u200D\u200D👩'],
    ['a selector on a letter', 'a\uFE0F'],
    ['a text selector on a letter', 'a\uFE0E'],
    ['two selectors', '❤\uFE0F\uFE0F'],
    ['a selector on a plain digit', '1\uFE0F'],
    ['another variation selector', '❤\uFE00'],
    ['an ideographic variation', '葛\u{E0100}'],
  ])('is not %s', (_, text) => {
    expect(isPrintable(text, MESSAGE_MAX)).toBe(false)
  })

  test('is counted in code points', () => {
    expect(isPrintable('😀'.repeat(NAME_MAX), NAME_MAX)).toBe(true)
    expect(isPrintable('😀'.repeat(NAME_MAX + 1), NAME_MAX)).toBe(false)
    expect(isPrintable('x'.repeat(NAME_MAX), NAME_MAX)).toBe(true)
    expect(isPrintable('x'.repeat(NAME_MAX + 1), NAME_MAX)).toBe(false)
    expect(isPrintable('e\u0301'.repeat(NAME_MAX / 2), NAME_MAX)).toBe(true)
    expect(isPrintable('e\u0301'.repeat(NAME_MAX / 2) + 'e', NAME_MAX)).toBe(false)
  })

  test('holds nothing of the classes that hide or turn text, whatever surrounds it', () => {
    const hiding = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))
    fc.assert(
      fc.property(hiding, fc.string({ unit: 'binary', maxLength: 8 }), (character, around) => {
        const forbidden = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?!\u200D)\p{Cf}|(?! )\p{Zs}/u.test(character)
        if (forbidden) expect(isPrintable(`x${around}${character}${around}`, MESSAGE_MAX)).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a link', () => {
  test.each([
    'https://example.org',
    'https://example.org/',
    'https://e',
    'https://example.org./',
    'https://a-b.example.org/path/to;v=1/x.html',
    'https://under_score.example/',
    'https://example.org?q=1',
    'https://example.org#top',
    'https://example.org/?q=a+b&c=%20%C3%A9#x/y?z',
    'https://example.org:443/',
    'https://example.org:1',
    'https://example.org:65535/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[2001:db8::1]:8443/x',
    'https://xn--bcher-kva.example/',
    'https://EXAMPLE.org/CaSe',
    'https://example.org/@user',
    'https://example.org/a:b',
    `https://example.org/${'a'.repeat(LINK_MAX - 20)}`,
  ])('may be %s', (text) => {
    expect(isLink(text)).toBe(true)
  })

  test.each([
    ['nothing', ''],
    ['http', 'http://example.org/'],
    ['an upper-case scheme', 'HTTPS://example.org/'],
    ['ftp', 'ftp://example.org/'],
    ['script', 'javascript:alert(1)'],
    ['data', 'data:text/html,x'],
    ['without a scheme', '//example.org'],
    ['without a host', 'https://'],
    ['with a path for a host', 'https:///path'],
    ['with one slash', 'https:/example.org'],
    ['with a query for a host', 'https://?x'],
    ['with a fragment for a host', 'https://#x'],
    ['with a port for a host', 'https://:443/'],
    ['with user and password', 'https://user:pw@example.org/'],
    ['with a user', 'https://user@example.org/'],
    ['with a host for a user', 'https://example.org@evil.test/'],
    ['with an escaped host', 'https://exa%6Dple.org/'],
    ['with a space in its host', 'https://exa mple.org/'],
    ['with a space in its path', 'https://example.org/a b'],
    ['with a tab', 'https://example.org/\t'],
    ['with a line feed at its end', 'https://example.org/\n'],
    ['with a space before', ' https://example.org/'],
    ['with a space after', 'https://example.org/ '],
    ['with a backslash', 'https://example.org/\\evil'],
    ['with a backslash for the host', 'https://example.org\\@evil.test/'],
    ['with port 0', 'https://example.org:0/'],
    ['with a port too high', 'https://example.org:65536/'],
    ['with a port far too high', 'https://example.org:99999/'],
    ['with a long port', 'https://example.org:000443/'],
    ['with an empty port', 'https://example.org:/'],
    ['with a port in letters', 'https://example.org:http/'],
    ['with a host in Unicode', 'https://bücher.example/'],
    ['with a Cyrillic look-alike', 'https://аpple.com/'],
    ['with a path in Unicode', 'https://example.org/é'],
    ['with a bad escape', 'https://example.org/%zz'],
    ['with half an escape', 'https://example.org/%2'],
    ['with a lone percent', 'https://example.org/%'],
    ['with a double quote', 'https://example.org/"onmouseover=x'],
    ['with a single quote', "https://example.org/'x"],
    ['with angle brackets', 'https://example.org/<b>'],
    ['with a backquote', 'https://example.org/`x'],
    ['with braces', 'https://example.org/{x}'],
    ['with a pipe', 'https://example.org/a|b'],
    ['with a bidi override', 'https://example.org/\u202E'],
    ['with a NUL', 'https://example.org/\0'],
    ['with half an address', 'https://[::1/'],
    ['with no address', 'https://[]/'],
    ['with a zone', 'https://[fe80::1%25eth0]/'],
    ['with a number beyond IPv4', 'https://999.999.999.999/'],
    ['of 201 characters', `https://example.org/${'a'.repeat(LINK_MAX - 19)}`],
  ])('is not %s', (_, text) => {
    expect(isLink(text)).toBe(false)
  })

  test('is read by the platform as the same host, and without a user', () => {
    // Without digits, which make a number an IPv4 address.
    const tail = fc.string({ unit: fc.constantFrom(...'aB.-_~:/?#[]@!$&()*+,;=%\\ "<>\u00E9'.split('')) })
    fc.assert(
      fc.property(tail, (text) => {
        const link = `https://${text}`
        if (!isLink(link)) return
        const { protocol, username, password, host } = new URL(link)
        expect({ protocol, username, password }).toEqual({ protocol: 'https:', username: '', password: '' })
        expect(text.toLowerCase().startsWith(host)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})
