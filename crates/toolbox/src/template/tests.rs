//! Rendering results, and the limits on hostile templates.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{EscapeMode, TemplateError, render};

fn fill(template: &str, values: Value) -> Result<String, TemplateError> {
    render(template, values.as_object().expect("an object"), EscapeMode::None)
}

#[test]
fn templates_render_as_in_jinja() {
    let table = [
        ("{{ hello }}, {{ world }}!", "Hi, earth!"),
        ("{% set name = 'Ann' %}{{ name }}{{ missing }}", "Ann"),
        (
            "{% for x in list %}{{ loop.index }}:{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}",
            "1:1, 2:2, 3:3",
        ),
        ("{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}", "a=1;b=two;"),
        ("{% for k in map %}{{ k }}{% endfor %}", "ab"),
        ("{% for x in list if x > 1 %}{{ x }}{% else %}none{% endfor %}", "23"),
        ("{% for x in [] %}{{ x }}{% else %}none{% endfor %}", "none"),
        ("{% for x in list %}{% set y = x %}{% endfor %}{{ y }}", ""),
        ("{{ list }} {{ map }} {{ none }} {{ yes }}", "[1, 2, 3] {'a': 1, 'b': 'two'} None True"),
        (
            "{{ list[0] }}{{ list[-1] }}{{ list[1:] }}{{ hello[:1] }}{{ map['b'] }}{{ map.a }}",
            "13[2, 3]Htwo1",
        ),
        (
            "{{ 1 + 2 * 3 }} {{ 7 // 2 }} {{ 7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ -1 }}",
            "7 3 1 3.5 1024 -1",
        ),
        ("{{ 'a' ~ 1 ~ none }} {{ 'ab' * 2 }} {{ [1] + [2] }}", "a1None abab [1, 2]"),
        (
            "{{ 'yes' if yes else 'no' }} {{ 1 < 2 < 3 }} {{ 2 in list }} {{ 5 not in list }}",
            "yes True True True",
        ),
        (
            "{{ missing or 'x' }} {{ yes and 'y' }} {{ missing is defined }} {{ 3 is odd }}",
            "x y False True",
        ),
        (
            "{{ hello|upper }} {{ 'a b'|title }} {{ ' x '|trim }} {{ 'aXb'|replace('X', '-') }}",
            "HI A B x a-b",
        ),
        (
            "{{ list|join(', ') }} {{ list|length }} {{ list|sum }} {{ list|max }} {{ list|last }}",
            "1, 2, 3 3 6 3 3",
        ),
        (
            "{{ missing|default('d') }} {{ ''|default('e', true) }} {{ '3.7'|int }} {{ 3.14159|round(2) }}",
            "d e 3 3.14",
        ),
        (
            "{{ people|map(attribute='name')|join('+') }} {{ people|selectattr('age', 'gt', 30)|list }}",
            "Bo+Al [{'name': 'Al', 'age': 31}]",
        ),
        (
            "{{ people|sort(attribute='name')|map(attribute='name')|join }} {{ map|tojson }}",
            "AlBo {\"a\":1,\"b\":\"two\"}",
        ),
        (
            "{{ 3.14159|format('%.2f') }} {{ 7|format('%03d') }} {{ 'a b c d e f'|truncate(6, leeway=0) }}",
            "3.14 007 a...",
        ),
        (
            "{{ '%s is %d%%, %+d'|format('x', 3.7, 4) }} {{ '%-4s|%5.1f|%05d'|format('a', 2, -3) }}",
            "x is 3%, +4 a   |  2.0|-0003",
        ),
        ("{{ '1;2;3'.split(';')|map('float')|sum|round(2) }}", "6.0"),
        ("{% filter upper %}x{% endfilter %}{% set b %}y{{ 1 }}{% endset %}{{ b }}", "Xy1"),
        (
            "{% with z = 1 %}{{ z }}{% endwith %}{{ z }}{# gone #}{% raw %}{{ z }}{% endraw %}",
            "1{{ z }}",
        ),
        ("a {%- if yes %} b {%- endif %} c", "a b c"),
        (
            "{{ ', '.join(['x', 'y']) }} {{ hello.lower() }} {{ map.get('q', 'none') }}",
            "x, y hi none",
        ),
        ("{ not } a template", "{ not } a template"),
    ];
    let values = json!({
        "hello": "Hi", "world": "earth", "list": [1, 2, 3], "map": {"a": 1, "b": "two"}, "none": null, "yes": true,
        "people": [{"name": "Bo", "age": 30}, {"name": "Al", "age": 31}],
    });
    for (template, wanted) in table {
        assert_eq!(fill(template, values.clone()).as_deref(), Ok(wanted), "{template}");
    }
}

#[test]
fn values_are_escaped_if_requested() {
    let values = json!({"x": "<b> & 'c'"});
    let values = values.as_object().expect("an object");
    let html = |template| render(template, values, EscapeMode::Html).expect("a text");
    assert_eq!(html("<i>{{ x }}</i>"), "<i>&lt;b&gt; &amp; &#39;c&#39;</i>");
    assert_eq!(
        html("{{ x|safe }}{% set y %}{{ x }}{% endset %}{{ y }}"),
        "<b> & 'c'&lt;b&gt; &amp; &#39;c&#39;"
    );
    assert_eq!(render("{{ x }}", values, EscapeMode::html(false)).expect("a text"), "<b> & 'c'");
}

#[test]
fn an_invalid_template_is_rejected_with_its_reason() {
    let message =
        |template: &str| fill(template, json!({})).expect_err("an invalid template").to_string();
    assert!(message("{{ a").starts_with("The template is invalid: "));
    assert_eq!(
        message("{{ a.b }}"),
        "The template could not be rendered: cannot read `b` of an undefined value."
    );
    assert_eq!(message("{{ 1 / 0 }}"), "The template could not be rendered: division by zero.");
    assert_eq!(
        message("{{ 1|nothing }}"),
        "The template could not be rendered: unknown filter `nothing`."
    );
    for refused in ["{{ range(9) }}", "{% include 'x' %}", "{{ ''.__class__.x }}", "{% do a.b() %}"]
    {
        assert!(fill(refused, json!({})).is_err(), "{refused}");
    }
}

/// Without limits, each of these would exhaust memory, time or the stack.
#[test]
fn a_hostile_template_fails_quickly_with_little_memory() {
    let doubling = "{% set a = a ~ a %}".repeat(100);
    let table = [
        format!("{{% set a = 'aaaaaaaaaaaaaaaa' %}}{doubling}"),
        format!("{{% set a = 'aaaaaaaaaaaaaaaa' %}}{}", "{% set a = a + a %}".repeat(100)),
        format!("{{% set a = [1] %}}{}", "{% set a = a + a %}".repeat(100)),
        format!("{{% set a = [] %}}{}{{{{ a == a }}}}", "{% set a = [a, a] %}".repeat(100)),
        format!("{{% set a = 1 %}}{}", "{% set a = {'x': a, 'y': a} %}".repeat(100)),
        "{{ 'a' * 999999999999 }}".into(),
        "{{ ('a' * 999999) * 999999 }}".into(),
        "{{ 9 ** 9 ** 9 ** 9 }}{{ 'x' * (2 ** 62) }}".into(),
        "{{ big|replace('', big) }}".into(),
        "{{ big|list|join(big) }}".into(),
        "{% for x in many %}{{ '%999999999d %.999999999f'|format(x, x) }}{% endfor %}".into(),
        "{% for x in many %}{% for y in many %}{% for z in many %}{% endfor %}{% endfor %}{% endfor %}".into(),
        "{% for x in many %}{{ big }}{% endfor %}".into(),
        "{% for x in many %}{% if big == same %}{% endif %}{% endfor %}".into(),
        "{% for x in many %}{% if 'zz' in big %}{% endif %}{% endfor %}".into(),
        "{% for x in many %}{% if many == many %}{% endif %}{{ big|length }}{% endfor %}".into(),
        "{% for x in many %}{% set y = many|tojson %}{% endfor %}".into(),
        (0..1000).map(|n| format!("{{% set a{n} = 1 %}}")).collect(),
        "{% for x in many %}{% set y = big|upper %}{% endfor %}".into(),
        "{% for x in many %}{% set y = big[1:] %}{% endfor %}".into(),
        format!("{{{{ big{} }}}}", "|indent(1000)".repeat(20)),
        format!("{{% for x in many %}}{}{{% endfor %}}", "raw ".repeat(20_000)),
        format!("{{{{ {} }}}}", "a+".repeat(100_000)),
        format!("{{{{ {}1{} }}}}", "(".repeat(50_000), ")".repeat(50_000)),
        format!("{{{{ {}1 }}}}", "not ".repeat(50_000)),
        format!("{{{{ a{} }}}}", "|upper".repeat(30_000)),
        format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(10_000)),
        "{% if a %}".repeat(10_000),
    ];
    let big = "lots of text\n".repeat(10_000);
    let many: Vec<u32> = (0..10_000).collect();
    let values = json!({"big": big, "same": big, "many": many});
    let before = peak_kilobytes();
    for template in &table {
        let began = Instant::now();
        let result = fill(template, values.clone());
        let shown: String = template.chars().take(60).collect();
        assert!(result.is_err(), "{shown}");
        assert!(began.elapsed() < Duration::from_secs(20), "{shown} took {:?}", began.elapsed());
    }
    let grown = peak_kilobytes() - before;
    assert!(grown < 128 * 1024, "it grew by {grown} kB");
}

#[test]
fn the_deepest_accepted_template_fits_the_stack() {
    let nested = |depth: usize| {
        let chain = "+1".repeat(120);
        let inner = format!("{}1{}", "(".repeat(60), ")".repeat(60));
        let inner = format!("{{{{ 1{chain} }}}}{{{{ {inner} }}}}");
        let (open, close) = ("{% for x in [1] %}{% if 1 %}", "{% endif %}{% endfor %}");
        fill(&format!("{}{inner}{}", open.repeat(depth), close.repeat(depth)), json!({}))
    };
    let deepest = (1..100).rev().find_map(|depth| nested(depth).ok());
    assert_eq!(deepest.as_deref(), Some("1211"));
    let elifs = "{% elif 0 %}".repeat(64);
    assert_eq!(
        fill(&format!("{{% if 0 %}}{elifs}{{% else %}}x{{% endif %}}"), json!({})).as_deref(),
        Ok("x")
    );
}

/// Peak memory of this process.
fn peak_kilobytes() -> u64 {
    let status =
        std::fs::read_to_string("/proc/self/status").expect("a readable /proc/self/status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim().trim_end_matches(" kB").parse().expect("a number")
}
