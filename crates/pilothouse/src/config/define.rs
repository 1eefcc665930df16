//! The `settings!` macro: turns a table of settings into a struct, its parser, its checks and its description.

/// One setting as shown in the documentation and by `doctor`.
pub(crate) struct SettingDescription {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
}

macro_rules! settings {
    ($($group:literal; $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $name:literal, $default:literal $(, $rule:ident)?;)+)+) => {
        #[derive(Clone, Debug)]
        pub(crate) struct Settings {
            $($($(#[doc = $doc])+ pub(crate) $field: $type,)+)+
        }

        impl Settings {
            /// Every setting in the order of the table.
            pub(crate) const ALL: &[define::SettingDescription] = &[
                $($(define::SettingDescription {
                    group: $group,
                    name: $name,
                    kind: <$type as value::SettingValue>::KIND,
                    default: $default,
                    doc: concat!($($doc),+),
                },)+)+
            ];

            fn parse(layers: &ConfigLayers) -> Result<Self, ConfigRefusal> {
                let mut problems = Vec::new();
                $($(let $field = layers.parse::<$type>($name, $default, &mut problems);)+)+
                match ($($($field,)+)+) {
                    ($($(Some($field),)+)+) => Ok(Self { $($($field,)+)+ }),
                    _ => Err(ConfigRefusal(problems)),
                }
            }

            /// A sentence for every value that breaks the rule of its setting, a function in `check.rs`.
            fn broken_rules(&self) -> Vec<String> {
                let mut problems = Vec::new();
                $($($(problems.extend(check::$rule($name, &self.$field));)?)+)+
                problems
            }

            /// Names and printable values: secrets are masked.
            pub(crate) fn shown(&self) -> Vec<(&'static str, String)> {
                vec![$($(($name, value::SettingValue::shown(&self.$field)),)+)+]
            }
        }
    };
}

pub(crate) use settings;
