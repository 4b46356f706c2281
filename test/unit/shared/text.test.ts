import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isLink, isPrintable, LINK_MAX, MESSAGE_MAX, NAME_MAX } from '../../../shared/text.ts'

describe('text on the wall', () => {
  test.each([
    ['a word', 'Ada'],
    ['one letter', 'x'],
    ['a sentence', 'hello, "world" — (100%) <3 & more!'],
    ['markup, which is shown as text', '<script>alert(1)</script>'],
    ['a word between spaces', ' Ada '],
    ['Latin with accents', 'Élodie Müller'],
    ['letters with combining marks', 'e\u0301 n\u0303'],
    ['letters of many scripts', 'Ωμέγα Ада مرحبا 你好 こんにちは 안녕'],
    ['Hebrew letters with points', 'שָׁלוֹם'],
    ['Devanagari with vowel signs', 'नमस्ते'],
    ['Thai', 'สวัสดี'],
    ['digits of other scripts', '١٢٣ ¼ Ⅷ'],
    ['currency and mathematical symbols', '€ £ ∑ √ ≠'],
    ['box-drawing characters', '█▓▒░'],
    ['an emoji', '😀'],
    ['an emoji with its variation selector', '❤\uFE0F'],
    ['a pictograph shown as text', '❤\uFE0E'],
    ['a family emoji', '👨\u200D👩\u200D👧'],
    ['a couple emoji with variation selectors', '👩\u200D❤\uFE0F\u200D💋\u200D👨'],
    ['an emoji with a skin tone', '👋🏽'],
    ['a profession emoji with a skin tone', '👩🏽\u200D🚀'],
    ['an emoji with a gender sign', '🤷\u200D♂\uFE0F'],
    ['a pride flag', '🏳\uFE0F\u200D🌈'],
    ['a pirate flag', '🏴\u200D☠\uFE0F'],
    ['a country flag', '🇫🇷'],
    ['a keycap', '1\uFE0F\u20E3 #\uFE0F\u20E3'],
    ['a keycap without a variation selector', '1\u20E3'],
    ['letters with eight marks each', `a${'\u0301'.repeat(8)}b${'\u0328'.repeat(8)}`],
  ])('text on the wall may be %s', (_, text) => {
    expect(isPrintable(text, MESSAGE_MAX)).toBe(true)
  })

  test.each([
    ['empty', ''],
    ['only blanks', '   '],
    ['a combining mark without a letter', '\u0301'],
    ['a letter with nine combining marks', `a${'\u0301'.repeat(9)}b`],
    ['a letter with nine marks of several kinds', `x${'\u0301\u0489\u20DD'.repeat(3)}`],
    ['marks on blanks', ' \u0301 \u0308'],
    ['a variation selector on its own', '\uFE0F'],
    ['a flag made of tags', '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}'],
    ['a joiner between letters', 'a\u200Db'],
    ['a joiner before an emoji', 'a\u200D😀'],
    ['a joiner after an emoji', '😀\u200Da'],
    ['a joiner at the end', '😀\u200D'],
    ['two joiners in a row', '👨\u200D\u200D👩'],
    ['a variation selector on a letter', 'a\uFE0F'],
    ['a text selector on a letter', 'a\uFE0E'],
    ['an emoji with two variation selectors', '❤\uFE0F\uFE0F'],
    ['a variation selector on a plain digit', '1\uFE0F'],
    ['an emoji with the variation selector U+FE00', '❤\uFE00'],
    ['an ideographic variation sequence', '葛\u{E0100}'],
  ])('text on the wall may not be %s', (_, text) => {
    expect(isPrintable(text, MESSAGE_MAX)).toBe(false)
  })

  // In order: four Hangul fillers, a Khitan filler, a blank Braille cell, a null notehead, a grapheme joiner, a Khmer
  // vowel and a Mongolian variation selector.
  const unseen = ['3164', '115f', '1160', 'ffa0', '16fe4', '2800', '1d159', '34f', '17b4', '180b']

  test.each(unseen)('text on the wall may not contain U+%s, which is an invisible letter, mark or symbol', (code) => {
    const character = String.fromCodePoint(Number.parseInt(code, 16))
    for (const text of [character, `a${character}b`]) expect(isPrintable(text, MESSAGE_MAX)).toBe(false)
  })

  test('the length of text is counted in code points', () => {
    expect(isPrintable('😀'.repeat(NAME_MAX), NAME_MAX)).toBe(true)
    expect(isPrintable('😀'.repeat(NAME_MAX + 1), NAME_MAX)).toBe(false)
    expect(isPrintable('x'.repeat(NAME_MAX), NAME_MAX)).toBe(true)
    expect(isPrintable('x'.repeat(NAME_MAX + 1), NAME_MAX)).toBe(false)
    expect(isPrintable('e\u0301'.repeat(NAME_MAX / 2), NAME_MAX)).toBe(true)
    expect(isPrintable('e\u0301'.repeat(NAME_MAX / 2) + 'e', NAME_MAX)).toBe(false)
  })

  test('text on the wall may not contain characters of the classes that hide or reverse text', () => {
    const isHiding = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?!\u200D)\p{Cf}|(?! )\p{Zs}/u
    const every = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code))
    const hiding = every.filter((character) => isHiding.test(character))
    expect(hiding).toContain('\u202E')
    expect(hiding.filter((character) => isPrintable(`x${character}y`, MESSAGE_MAX))).toEqual([])
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
  ])('a link may be %s', (text) => {
    expect(isLink(text)).toBe(true)
  })

  test.each([
    ['that is empty', ''],
    ['with the scheme http', 'http://example.org/'],
    ['with an upper-case scheme', 'HTTPS://example.org/'],
    ['with the scheme ftp', 'ftp://example.org/'],
    ['with the scheme javascript', 'javascript:alert(1)'],
    ['with the scheme data', 'data:text/html,x'],
    ['without a scheme', '//example.org'],
    ['without a host', 'https://'],
    ['with a path in place of a host', 'https:///path'],
    ['with one slash', 'https:/example.org'],
    ['with a query in place of a host', 'https://?x'],
    ['with a fragment in place of a host', 'https://#x'],
    ['with a port in place of a host', 'https://:443/'],
    ['with a user and a password', 'https://user:pw@example.org/'],
    ['with a user', 'https://user@example.org/'],
    ['with a host name as its user', 'https://example.org@evil.test/'],
    ['with an escaped host', 'https://exa%6Dple.org/'],
    ['with a space in its host', 'https://exa mple.org/'],
    ['with a space before it', ' https://example.org/'],
    ['with a space after it', 'https://example.org/ '],
    ['with a backslash after its host', 'https://example.org\\@evil.test/'],
    ['with a host in Unicode', 'https://bücher.example/'],
    ['with a Cyrillic look-alike letter in its host', 'https://аpple.com/'],
    ['with a bad escape', 'https://example.org/%zz'],
    ['with half an escape', 'https://example.org/%2'],
    ['with a lone percent sign', 'https://example.org/%'],
    ['with an unclosed IPv6 address', 'https://[::1/'],
    ['with empty brackets in place of a host', 'https://[]/'],
    ['with an IPv6 zone', 'https://[fe80::1%25eth0]/'],
    ['with an IPv4 address that is out of range', 'https://999.999.999.999/'],
    ['of 201 characters', `https://example.org/${'a'.repeat(LINK_MAX - 19)}`],
  ])('a link %s is rejected', (_, text) => {
    expect(isLink(text)).toBe(false)
  })

  test.each('\0\t\n \\"\'<>`{}|\u00E9\u202E'.split(''))('the path of a link may not contain %j', (character) => {
    expect(isLink(`https://example.org/${character}`)).toBe(false)
    expect(isLink(`https://example.org/a${character}b`)).toBe(false)
  })

  test.each(['', '0', '65536', '99999', '000443', 'http'])('a link may not have the port %j', (port) => {
    expect(isLink(`https://example.org:${port}/`)).toBe(false)
  })

  test('in an accepted link, the platform’s URL parser finds the host as written, and no user or password', () => {
    // Digits are left out, because the platform reads a host that is a number as an IPv4 address.
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

test('megabytes of text are rejected without being split into characters', () => {
  const measureDuration = (text: string) => {
    const startedAt = performance.now()
    for (let at = 0; at < 100; at++) expect(isPrintable(text, MESSAGE_MAX)).toBe(false)
    return performance.now() - startedAt
  }
  const [short, huge] = ['a'.repeat(MESSAGE_MAX + 1), 'a'.repeat(4_000_000)]
  measureDuration(short)
  const ratios = Array.from({ length: 5 }, () => measureDuration(huge) / measureDuration(short))
  // Splitting the huge text into characters would take about ten thousand times as long as rejecting the short one.
  expect(Math.min(...ratios)).toBeLessThan(20)
})
