//! A family's list: an enum of its members, and what builds them by name.

/// Declares a family's list: an enum with static dispatch over its trait, and its builder. The trait's methods are
/// repeated behind the list, without bodies, so that they can be passed on. A member from elsewhere ([`Registry`]) is one more
/// variant, whose answers are checked. A large member that is chosen seldom is `in Box`, so that the others stay small.
///
/// ```ignore
/// family! {
///     /// Doc comment.
///     pub enum AnyGrowth: Growth, "growth rule" { PerAck, ByteCounting }
///     fn on_ack(&mut self, ack: &Ack, w: &mut Window);
/// }
/// ```
macro_rules! family {
    (@methods $Members:tt) => {};
    (@methods $Members:tt fn $name:ident(&mut $self:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $name(&mut $self $(, $arg: $ty)*) $(-> $ret)? { family!(@call tell $self $name ($($arg),*) [$($arg)*] $Members) }
        family!(@methods $Members $($rest)*);
    };
    (@methods $Members:tt fn $name:ident(&$self:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $name(&$self $(, $arg: $ty)*) $(-> $ret)? { family!(@call ask $self $name ($($arg),*) [$($arg)*] $Members) }
        family!(@methods $Members $($rest)*);
    };
    (@call $how:ident $self:ident $name:ident $args:tt [$($arg:ident)*] ($($Member:ident)+)) => {
        match $self {
            $(Self::$Member(member) => member.$name $args,)+
            Self::Custom(custom) => {
                let answer = custom.$how(stringify!($name), |member| member.$name $args);
                $(custom.check(stringify!($name), &$arg);)*
                custom.check(stringify!($name), &answer);
                answer
            }
        }
    };
    (@type $Member:ident) => { $Member };
    (@type $Member:ident Box) => { Box<$Member> };
    ($(#[$meta:meta])* pub enum $Any:ident : $Trait:ident, $family:literal { $($Member:ident $(in $Box:ident)?),+ $(,)? } $($methods:tt)*) => {
        $(#[$meta])*
        #[allow(missing_docs, clippy::large_enum_variant)] // the members document themselves
        #[derive(Debug, Clone)]
        pub enum $Any { $($Member(family!(@type $Member $($Box)?)),)+ Custom($crate::custom::Custom<dyn $Trait>) }

        dyn_clone::clone_trait_object!($Trait);

        impl $crate::registry::Family for dyn $Trait {
            const FAMILY: &'static str = $family;
            const BUILT_IN: &'static [$crate::spec::Info] = $Any::MEMBERS;
        }

        impl $Any {
            /// What is built in of this family.
            pub const MEMBERS: &'static [$crate::spec::Info] = &[$(<$Member as $crate::spec::Member>::INFO),+];

            /// Builds the built-in member that `spec` names; also returns the spec with every default filled in.
            pub fn build(
                spec: &$crate::spec::Spec,
            ) -> Result<(Self, $crate::spec::Spec), $crate::spec::SpecError> {
                Self::build_among(spec, &$crate::Registry::new())
            }

            /// Builds the member that `spec` names, built in or in the registry.
            pub fn build_among(
                spec: &$crate::spec::Spec,
                registry: &$crate::Registry,
            ) -> Result<(Self, $crate::spec::Spec), $crate::spec::SpecError> {
                use $crate::spec::{Args, Member as _, SpecError};
                let mut args = Args::among(spec, registry);
                $(if spec.name == $Member::INFO.name {
                    let member = $Member::build(&mut args)?;
                    return Ok((Self::$Member(member.into()), args.finish()?));
                })+
                if let Some(custom) = registry.build::<dyn $Trait>(&mut args, &spec.name) {
                    return Ok((Self::Custom(custom?), args.finish()?));
                }
                Err(SpecError::UnknownMember {
                    family: $family,
                    name: spec.name.clone(),
                    known: Self::MEMBERS.iter().chain(registry.of($family)).map(|m| m.name).collect(),
                })
            }
        }

        impl $crate::registry::AnyMember for $Any {
            fn build_among(
                spec: &$crate::spec::Spec,
                registry: &$crate::Registry,
            ) -> Result<(Self, $crate::spec::Spec), $crate::spec::SpecError> {
                Self::build_among(spec, registry)
            }
        }

        impl $Trait for $Any { family!(@methods ($($Member)+) $($methods)*); }
    };
}
pub(crate) use family;
