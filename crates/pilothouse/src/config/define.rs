//! The `settings!` macro: a table of settings becomes a struct, its parser and its description.

/// One setting as the documentation and `doctor` show it.
pub(crate) struct Described {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
}

macro_rules! settings {
    ($($group:literal; $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $name:literal, $default:literal;)+)+) => {
        #[derive(Clone, Debug)]
        pub(crate) struct Settings {
            $($($(#[doc = $doc])+ pub(crate) $field: $type,)+)+
        }

        impl Settings {
            /// Every setting in the order of the table.
            pub(crate) const ALL: &[define::Described] = &[
                $($(define::Described {
                    group: $group,
                    name: $name,
                    kind: <$type as value::Value>::KIND,
                    default: $default,
                    doc: concat!($($doc),+),
                },)+)+
            ];

            fn parse(layers: &Layers) -> Result<Self, Refusal> {
                let mut wrong = Vec::new();
                $($(let $field = layers.parse::<$type>($name, $default, &mut wrong);)+)+
                match ($($($field,)+)+) {
                    ($($(Some($field),)+)+) => Ok(Self { $($($field,)+)+ }),
                    _ => Err(Refusal(wrong)),
                }
            }

            /// Names and values as they may be printed: secrets are masked.
            pub(crate) fn shown(&self) -> Vec<(&'static str, String)> {
                vec![$($(($name, value::Value::shown(&self.$field)),)+)+]
            }
        }
    };
}

pub(super) use settings;
