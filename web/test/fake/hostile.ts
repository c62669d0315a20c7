// Names that try to break a page: markup, hidden characters, commands, and bytes that are not UTF-8.

export const HOSTILE_OWNER = '"><img src=x onerror=window.pwned=1>';

const TEXTS = [
  "<img src=x onerror=window.pwned=1>.txt",
  '"><script>window.pwned=1</script>.txt',
  "'-window.pwned=1-'.js",
  "javascript:window.pwned=1",
  "<svg onload=window.pwned=1>",
  "<a href='javascript:window.pwned=1'>click.html",
  "&lt;b&gt; &amp; &#x3c;i&#x3e;.html",
  "]]><!--<script>window.pwned=1<!--.xml",
  "{{constructor.constructor('window.pwned=1')()}}",
  "${window.pwned=1}",
  "invoice\u202efdp.exe",
  "\u2066isolate\u2069 \u200bzero\u200dwidth\ufeff.txt",
  "line\nfeed\ttab\rreturn.txt",
  "\u001b[31mred\u001b[0m\u0007.log",
  "שלום עולם.txt",
  "日本語のファイル名.txt",
  "👩‍👩‍👧 family.png",
  "combining Z̸̢̛a̷l̵g̶o̴.txt",
  "__proto__",
  "constructor.__proto__",
  "-rf",
  " leading and trailing ",
  "\"quoted\" 'name'.txt",
  "back\\slash.txt",
  "$(touch pwned) `id`.sh",
  "a:b c*d?e[f](g).txt",
  "100%25 %2e%2e%2f.txt",
  "semi;colon|pipe&and.txt",
  "AND",
  "NOT",
  "TO",
  "x".repeat(4096),
  `${"long ".repeat(200)}name.txt`,
];

export const HOSTILE_NAMES: Buffer[] = [
  ...TEXTS.map((text) => Buffer.from(text)),
  Buffer.from("caf\xe9.txt", "latin1"),
  Buffer.from("\xff\xfe\x80'quote \\x41.bin", "latin1"),
  Buffer.concat([Buffer.from("mixed-é-"), Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from("-end")]),
];

export const HOSTILE_DIRECTORIES: Buffer[] = [
  Buffer.from("<svg onload=window.pwned=1>.d"),
  Buffer.from("javascript:window.pwned=1.d"),
  Buffer.from("caf\xe9.d", "latin1"),
];
